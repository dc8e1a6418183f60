import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { allRoutes } from "../functions/routes.ts";
import { allWorkers } from "../functions/workers.ts";

/** Absolute path of the checkout. */
export const PROJECT_ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The function behind every method and path that no route has. It responds with 404 or 405. */
export const REJECT_UNKNOWN_ROUTE = "reject-unknown-route";

/** Names of all Lambda functions, which are also the names of their files in `functions/`. */
export const functionNames: readonly string[] = [
  ...allRoutes.map(({ name }) => name),
  ...allWorkers.map(({ name }) => name),
  REJECT_UNKNOWN_ROUTE,
];

/** Holds one directory for each function, which is deployed as its code; the handler is `index.handler`. */
export const BUNDLES = join(PROJECT_ROOT, "dist");

/**
 * Bundles every function into `<outdir>/<name>/index.js`, all in one call so that shared modules are parsed once.
 * CommonJS starts 15 to 23 ms faster than ESM; the SDK's `module` fields bundle a third smaller than its `main` ones.
 * @throws Error naming every file that is missing or cannot be bundled
 */
export const buildFunctions = async (outdir: string = BUNDLES): Promise<void> => {
  await rm(outdir, { recursive: true, force: true });
  await build({
    absWorkingDir: PROJECT_ROOT,
    entryPoints: functionNames.map((name) => ({ in: `functions/${name}.ts`, out: `${name}/index` })),
    outdir,
    bundle: true,
    minify: true,
    // Errors are named after their classes; callers by IAM and readers of logs tell them apart by these names.
    keepNames: true,
    platform: "node",
    target: "node24",
    format: "cjs",
    mainFields: ["module", "main"],
    logLevel: "silent",
  });
};

if (import.meta.main) await buildFunctions();
