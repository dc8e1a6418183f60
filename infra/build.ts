import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { allRoutes } from "../functions/routes.ts";
import { allWorkers } from "../functions/workers.ts";

export const PROJECT_ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Behind every method and path that no route has: our own 404 and 405. */
export const REJECT_UNKNOWN_ROUTE = "reject-unknown-route";

/** Every Lambda, by the name of its file in `functions/`. */
export const functionNames: readonly string[] = [
  ...allRoutes.map(({ name }) => name),
  ...allWorkers.map(({ name }) => name),
  REJECT_UNKNOWN_ROUTE,
];

/** A directory for each function, which is deployed as its code; its entry is `index.handler`. */
export const BUNDLES = join(PROJECT_ROOT, "dist");

/**
 * Bundles every function into `<outdir>/<name>/index.js`, all in one call so that shared modules are parsed once.
 * CommonJS starts 15 to 23 ms faster than ESM; the SDK's `module` fields bundle a third smaller than its `main` ones.
 * @throws Error that names every file that is missing or does not bundle
 */
export const buildFunctions = async (outdir: string = BUNDLES): Promise<void> => {
  await rm(outdir, { recursive: true, force: true });
  await build({
    absWorkingDir: PROJECT_ROOT,
    entryPoints: functionNames.map((name) => ({ in: `functions/${name}.ts`, out: `${name}/index` })),
    outdir,
    bundle: true,
    minify: true,
    platform: "node",
    target: "node24",
    format: "cjs",
    mainFields: ["module", "main"],
    logLevel: "silent",
  });
};

if (import.meta.main) await buildFunctions();
