import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { BUNDLES } from "./build.ts";
import { type Context, projectContext } from "./context.ts";
import { parseSettings } from "./settings.ts";
import { WorkItemsStack } from "./work-items-stack.ts";

export interface ServiceAppProps {
  /** As `-c name=value` gives it. @default none */
  readonly context?: Context;
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
