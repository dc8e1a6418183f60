import { rm } from "node:fs/promises";
import { join } from "node:path";
import { buildFunctions } from "../build.ts";
import { createServiceApp } from "../service-app.ts";

/** A process of its own for `synthesis.ts`: bundles and CDK stay out of the memory of the stack that runs. */
const [, , outdir = "", region = ""] = process.argv;
const bundles = join(outdir, "dist");
await buildFunctions(bundles);
createServiceApp({ context: { region, stage: "dev" }, outdir, bundles }).synth();
// The assembly holds copies of them.
await rm(bundles, { recursive: true });
