import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { BUNDLES } from "./build.ts";
import { type Context, projectContext } from "./context.ts";
import { parseSettings } from "./settings.ts";
import { WorkItemsStack } from "./work-items-stack.ts";

/** As the CDK's command line has it by itself: local tools find the code of functions by the asset paths in the template. */
const COMMAND_LINE_CONTEXT = { "aws:cdk:enable-asset-metadata": true, "aws:cdk:enable-path-metadata": true };

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
    context: { ...COMMAND_LINE_CONTEXT, ...projectContext(), ...context },
    ...(outdir !== undefined && { outdir }),
  });
  const settings = parseSettings(app.node.getAllContext() as Context);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  for (const regionCode of settings.regions) {
    new WorkItemsStack(app, { regionCode, settings, bundles });
  }
  return app;
};
