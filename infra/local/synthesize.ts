import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { RegionCode } from "../../lib/regions.ts";
import { buildFunctions } from "../build.ts";
import { reportErrors } from "../command-line.ts";
import { createServiceApp } from "../service-app.ts";
import { DEFAULT_STAGE } from "../settings/settings.ts";
import type { StageSettings } from "../settings/stage-settings.ts";
import { stages } from "../stages.ts";

/** Settings of the local stack that override those of the stage dev. */
export type LocalSettings = Pick<StageSettings, "allowedOrigins">;

/** The region runs here whether or not the stage is deployed in it. */
function localStages(region: RegionCode, settings: LocalSettings): Readonly<Record<string, StageSettings>> {
  const stage = stages[DEFAULT_STAGE];
  return { [DEFAULT_STAGE]: { ...stage, ...settings, regions: { [region]: stage?.regions?.[region] ?? {} } } };
}

/** Runs as another process for `synthesis.ts`, so that esbuild and the CDK take no memory of the running stack. */
async function run(outdir: string, region: RegionCode, settings: LocalSettings): Promise<void> {
  const bundles = join(outdir, "dist");
  await buildFunctions(bundles, { sourceMaps: true });
  const localStage = localStages(region, settings);
  createServiceApp({ context: { region }, stages: localStage, outdir, bundles, validates: false }).synth();
  // The cloud assembly holds copies of the bundles.
  await rm(bundles, { recursive: true });
}

if (import.meta.main) {
  const [, , outdir = "", region = "", settings = "{}"] = process.argv;
  await reportErrors(() => run(outdir, region as RegionCode, JSON.parse(settings) as LocalSettings));
}
