import { readFileSync } from "node:fs";
import { join } from "node:path";
import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { BUNDLES, PROJECT_ROOT } from "./build.ts";
import { parseSettings } from "./settings.ts";
import { WorkItemsStack } from "./work-items-stack.ts";

/** The CDK's own command line passes the context of cdk.json along; whoever runs the app without it needs this. */
const projectContext = (): Record<string, unknown> =>
  (JSON.parse(readFileSync(join(PROJECT_ROOT, "cdk.json"), "utf8")) as { context: Record<string, unknown> }).context;

export interface ServiceAppProps {
  /** As `-c name=value` gives it. @default none */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Where the templates go. @default a new temporary directory */
  readonly outdir?: string;
  /** Where `build.ts` put a directory for each function. @default `dist` */
  readonly bundles?: string;
}

/**
 * The app with a stack for each region, checked when it is synthesized.
 * @throws SettingsError
 */
export const createServiceApp = ({ context = {}, outdir, bundles = BUNDLES }: ServiceAppProps = {}): App => {
  const app = new App({
    context: { ...projectContext(), ...context },
    ...(outdir !== undefined && { outdir }),
  });
  const settings = parseSettings((name) => app.node.tryGetContext(name));
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  for (const regionCode of settings.regions) {
    new WorkItemsStack(app, `WorkItems-${regionCode}`, { regionCode, settings, bundles });
  }
  return app;
};
