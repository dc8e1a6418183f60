import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { BUNDLES } from "./build.ts";
import { type Context, parseSettings, projectContext } from "./settings/settings.ts";
import type { StageSettings } from "./settings/stage-settings.ts";
import { stages as stagesOfTheCheckout } from "./stages.ts";
import { WorkItemsStack } from "./work-items-stack.ts";

/** The CDK's command line sets these too. Local tools find the functions' code by the asset paths in the template. */
const COMMAND_LINE_CONTEXT = { "aws:cdk:enable-asset-metadata": true, "aws:cdk:enable-path-metadata": true };

export interface ServiceAppProps {
  /** Values that `-c name=value` sets. @default none */
  readonly context?: Context;
  /** Settings by stage. @default those of `stages.ts` */
  readonly stages?: Readonly<Record<string, StageSettings>>;
  /** Directory of the cloud assembly. @default a new temporary directory */
  readonly outdir?: string;
  /** Directory with the functions' bundles, see `build.ts`. @default `dist` */
  readonly bundles?: string;
  /** Whether CloudFormation's own rules check the templates, which takes seconds. @default true */
  readonly validates?: boolean;
}

/**
 * Creates the app with one stack for each region of the stage. cdk-nag checks it when it is synthesized.
 * @throws SettingsError
 */
export function createServiceApp({
  context = {},
  stages = stagesOfTheCheckout,
  outdir,
  bundles = BUNDLES,
  validates = true,
}: ServiceAppProps = {}): App {
  const app = new App({
    context: { ...COMMAND_LINE_CONTEXT, ...projectContext(), ...context },
    builtinCloudFormationValidation: validates,
    ...(outdir !== undefined && { outdir }),
  });
  const { regions, environment } = parseSettings(app.node.getAllContext() as Context, stages);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  for (const [regionCode, settings] of regions) {
    new WorkItemsStack(app, { regionCode, settings, environment, bundles });
  }
  return app;
}
