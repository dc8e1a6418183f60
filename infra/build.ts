import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type BuildOptions } from "esbuild";
import { pages } from "../functions/pages.ts";
import { gatewayFunctions } from "../functions/routes.ts";
import { allWorkers } from "../functions/workers.ts";
import { processTerminal } from "./terminal/terminal.ts";
import { buildPages } from "@work-items/pages/build-pages.ts";

/** Absolute path of the checkout. */
export const PROJECT_ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Names of all Lambda functions, which are also the names of their files in `functions/`. */
export const functionNames: readonly string[] = [...gatewayFunctions(), ...allWorkers].map(({ name }) => name);

/** Contains a directory for each function, which is deployed as its code. The handler is `index.handler`. */
export const BUNDLES = join(PROJECT_ROOT, "dist");

/** Reads only the credentials that Lambda provides. The SDK's other sources are 95 KB of code. */
const CREDENTIALS = join(PROJECT_ROOT, "lib/aws/lambda-credentials.ts");

/**
 * How code is bundled for Lambda. CommonJS starts 15 to 23 ms faster than ESM. The SDK's `module` fields make bundles a
 * third smaller than its `main` fields. Its `import("node:http")` becomes a `require`: an import reads every export of
 * `node:http`, one of which loads undici. Names stay, because they are what a stack in the log says: decision 2.
 */
export const BUNDLE_OPTIONS = {
  absWorkingDir: PROJECT_ROOT,
  bundle: true,
  minifySyntax: true,
  minifyWhitespace: true,
  platform: "node",
  target: "node24",
  format: "cjs",
  mainFields: ["module", "main"],
  supported: { "dynamic-import": false },
  logLevel: "silent",
} as const satisfies BuildOptions;

/**
 * Bundles functions into `<outdir>/<name>/index.js` and puts the pages beside the function that serves them.
 * @throws Error naming every file that is missing or can't be bundled
 */
export async function buildFunctions(outdir: string = BUNDLES): Promise<void> {
  await rm(outdir, { recursive: true, force: true });
  // One call parses shared modules once.
  await build({
    ...BUNDLE_OPTIONS,
    alias: { "@aws-sdk/credential-provider-node": CREDENTIALS },
    entryPoints: functionNames.map((name) => ({ in: `functions/${name}.ts`, out: `${name}/index` })),
    outdir,
  });
  await buildPages(join(outdir, pages.name, "pages"));
}

if (import.meta.main) {
  processTerminal().note(`Bundling ${functionNames.length} functions and the pages into ${BUNDLES} …`);
  await buildFunctions();
}
