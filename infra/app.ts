import { join } from "node:path";
import { PROJECT_ROOT } from "./build.ts";
import { contextOf } from "./context.ts";
import { createServiceApp } from "./service-app.ts";
import { SettingsError } from "./settings/settings.ts";

/** The command in `cdk.json`. `node infra/app.ts -c stage=prod` also synthesizes, into `cdk.out`. */
try {
  createServiceApp({
    context: contextOf(process.argv.slice(2)),
    outdir: process.env["CDK_OUTDIR"] ?? join(PROJECT_ROOT, "cdk.out"),
  }).synth();
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
