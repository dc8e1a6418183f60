import { rm } from "node:fs/promises";
import { join } from "node:path";
import { buildFunctions } from "../build.ts";
import { createServiceApp } from "../service-app.ts";

/** Runs as another process for `synthesis.ts`, so that esbuild and the CDK take no memory of the running stack. */
const [, , outdir = "", region = ""] = process.argv;
const bundles = join(outdir, "dist");
await buildFunctions(bundles);
createServiceApp({ context: { region, stage: "dev" }, outdir, bundles }).synth();
// The cloud assembly holds copies of the bundles.
await rm(bundles, { recursive: true });
