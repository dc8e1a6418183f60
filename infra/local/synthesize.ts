import { rm } from "node:fs/promises";
import { join } from "node:path";
import { buildFunctions } from "../build.ts";
import type { Context } from "../context.ts";
import { createServiceApp } from "../service-app.ts";
import { SettingsError } from "../settings.ts";

/** Runs as another process for `synthesis.ts`, so that esbuild and the CDK take no memory of the running stack. */
const [, , outdir = "", context = "{}"] = process.argv;
const bundles = join(outdir, "dist");
try {
  await buildFunctions(bundles);
  createServiceApp({ context: JSON.parse(context) as Context, outdir, bundles }).synth();
  // The cloud assembly holds copies of the bundles.
  await rm(bundles, { recursive: true });
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
