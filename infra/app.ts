import { join } from "node:path";
import { parseArgs } from "node:util";
import { PROJECT_ROOT } from "./build.ts";
import { createServiceApp } from "./service-app.ts";
import { SettingsError } from "./settings.ts";

const { values } = parseArgs({ options: { context: { type: "string", short: "c", multiple: true, default: [] } } });
const context = Object.fromEntries(values.context.map((pair) => pair.split(/=(.*)/s, 2)));

try {
  createServiceApp({ context, outdir: process.env["CDK_OUTDIR"] ?? join(PROJECT_ROOT, "cdk.out") }).synth();
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
