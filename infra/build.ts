import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type BuildOptions, type Plugin } from "esbuild";
import { pages } from "../functions/pages.ts";
import { allRoutes } from "../functions/routes.ts";
import { allWorkers } from "../functions/workers.ts";
import { buildPages } from "./pages/build-pages.ts";

/** Absolute path of the checkout. */
export const PROJECT_ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The function behind every method and path that no route has. It responds with 404 or 405. */
export const REJECT_UNKNOWN_ROUTE = "reject-unknown-route";

/** Names of all Lambda functions, which are also the names of their files in `functions/`. */
export const functionNames: readonly string[] = [
  ...allRoutes().map(({ name }) => name),
  ...allWorkers.map(({ name }) => name),
  pages.name,
  REJECT_UNKNOWN_ROUTE,
];

/** Holds one directory for each function, which is deployed as its code; the handler is `index.handler`. */
export const BUNDLES = join(PROJECT_ROOT, "dist");

/** Takes only the credentials that Lambda gives to a function; the SDK's other sources of them are 95 KB of code. */
const CREDENTIALS = join(PROJECT_ROOT, "lib/runtime/lambda-credentials.ts");

/**
 * How code is bundled for Lambda. CommonJS starts 15 to 23 ms faster than ESM; the SDK's `module` fields bundle a third
 * smaller than its `main` ones. Its `import("node:http")` becomes a `require`: an import reads every export of
 * `node:http`, one of which loads undici.
 */
export const BUNDLE_OPTIONS = {
  absWorkingDir: PROJECT_ROOT,
  bundle: true,
  minify: true,
  platform: "node",
  target: "node24",
  format: "cjs",
  mainFields: ["module", "main"],
  supported: { "dynamic-import": false },
  logLevel: "silent",
} as const satisfies BuildOptions;

/**
 * Writes constant keys of the SDK's schemas as text: `[_hH]: 1` becomes `"httpHeader": 1`. esbuild keeps objects with
 * computed keys because to compute one could have an effect, so that each bundle would hold all schemas of S3 (52 KB).
 */
const SCHEMA_KEYS: Plugin = {
  name: "schema-keys",
  setup: (bundling) => {
    bundling.onLoad({ filter: /@aws-sdk.client-\w+.dist-es.schemas.schemas_\d+\.js$/ }, async ({ path }) => {
      const code = await readFile(path, "utf8");
      const texts = new Map(
        [...code.matchAll(/^const (\w+) = ("[^"\\]*");$/gm)].map(([, name, text]) => [name, text] as const),
      );
      const contents = code.replaceAll(/\[(\w+)\]:/g, (key, name: string) => {
        const text = texts.get(name);
        return text === undefined ? key : `${text}:`;
      });
      return { contents, loader: "js" };
    });
  },
};

/**
 * Leaves out what the SDK imports only when it is needed, which is never: event streams, and what names browsers. esbuild
 * would put such modules, and all that they import, into functions that run at their first import, and keep unused code
 * in them (20 KB a bundle). If one were needed, its `require` would fail with its name.
 */
const NEVER_IMPORTED: Plugin = {
  name: "never-imported",
  setup: (bundling) => {
    bundling.onResolve({ filter: /^(@smithy\/core\/event-streams|bowser)$/ }, ({ path, kind }) =>
      // The client of S3 also imports event streams at its start: a `require` at that place would fail.
      kind === "dynamic-import" ? { path, external: true } : undefined,
    );
  },
};

/** Modules that libraries import and functions never use. */
const NEVER_USED = [
  // How zod writes JSON Schemas.
  String.raw`zod.v4.core.(?:to-json-schema|json-schema-processors)`,
  // The SDK's hash for machines without Node's, and its cache for services that have many endpoints.
  String.raw`@smithy.core.dist-es.submodules.checksum.sha256.Sha256Js`,
  String.raw`@aws-sdk.endpoint-cache.dist-es.EndpointCache`,
  // busboy's parser of other forms than multipart ones.
  String.raw`@fastify.busboy.lib.types.urlencoded`,
  // How date-fns writes dates, and how it reads fields that patterns may not have.
  String.raw`date-fns.locale.en-US._lib.(?:formatDistance|formatRelative|localize)`,
  String.raw`date-fns.parse._lib.parsers.(?:Era|\w*WeekYear|\w*Week|\w*Quarter|DayOfYear|\w*LocalDay|ISODay|Timestamp\w*)Parser`,
];

/** Leaves out all that these modules hold but the names that others import from them. */
const HOLLOW: Plugin = {
  name: "hollow",
  setup: (bundling) => {
    bundling.onLoad({ filter: new RegExp(`node_modules.(?:${NEVER_USED.join("|")})\\.js$`) }, async ({ path }) => {
      const code = await readFile(path, "utf8");
      const names = [...code.matchAll(/^export (?:class|const|function) (\w+)/gm)].map(([, name]) => name);
      return { contents: names.map((name) => `export class ${name} {}`).join("\n") };
    });
  },
};

/** Leaves out what packages of the SDK say of themselves but for their version, which is sent with each request. */
const VERSION_ONLY: Plugin = {
  name: "version-only",
  setup: (bundling) => {
    bundling.onLoad({ filter: /@aws-sdk.client-\w+.package\.json$/ }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, "utf8")) as { readonly version: string };
      return { contents: JSON.stringify({ version }), loader: "json" };
    });
  },
};

/** How functions are bundled, without what they never use. */
export const FUNCTION_OPTIONS: BuildOptions = {
  ...BUNDLE_OPTIONS,
  alias: { "@aws-sdk/credential-provider-node": CREDENTIALS },
  plugins: [SCHEMA_KEYS, NEVER_IMPORTED, HOLLOW, VERSION_ONLY],
};

/**
 * Bundles every function into `<outdir>/<name>/index.js`, all in one call so that shared modules are parsed once, and
 * puts the pages beside the function that serves them.
 * @throws Error naming every file that is missing or cannot be bundled
 */
export const buildFunctions = async (outdir: string = BUNDLES): Promise<void> => {
  await rm(outdir, { recursive: true, force: true });
  await build({
    ...FUNCTION_OPTIONS,
    entryPoints: functionNames.map((name) => ({ in: `functions/${name}.ts`, out: `${name}/index` })),
    outdir,
  });
  await buildPages(join(outdir, pages.name, "pages"));
};

if (import.meta.main) await buildFunctions();
