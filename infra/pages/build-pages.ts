import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";
import { CODINGS, INDEX_FILE, type PageIndex } from "../../lib/http/page-endpoint.ts";
import { html } from "./docs/html.ts";
import { docsSite } from "./docs/site.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SOURCES = join(ROOT, "infra/pages");

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
};

/** Scripts and style sheets that pages name; what only scripts name follows from them. */
const ENTRIES = {
  "docs.js": "browser/docs.ts",
  "upload.js": "browser/upload.tsx",
  "site.css": "site.css",
  "docs.css": "docs.css",
  "upload.css": "upload.css",
} as const;
type Entry = keyof typeof ENTRIES;

async function buildAssets() {
  const { outputFiles, metafile } = await build({
    absWorkingDir: SOURCES,
    entryPoints: Object.values(ENTRIES),
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    platform: "browser",
    mainFields: ["browser", "module", "main"],
    conditions: ["browser"],
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    legalComments: "none",
    logLevel: "silent",
    metafile: true,
    write: false,
    outdir: "out",
  });
  const entries = Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) => {
    const entry = Object.entries(ENTRIES).find(([, source]) => source === entryPoint)?.[0];
    return entry === undefined ? [] : [[entry, basename(path)] as const];
  });
  return {
    /** Names by entry. */
    nameOf: Object.fromEntries(entries) as Record<Entry, string>,
    files: new Map(outputFiles.map(({ path, contents }) => [basename(path), contents])),
  };
}

const COMPRESS = {
  br: (bytes: Uint8Array) =>
    brotliCompressSync(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  gzip: (bytes: Uint8Array) => gzipSync(bytes, { level: 9 }),
} as const;

interface Page {
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly styles: readonly Entry[];
  readonly scripts: readonly Entry[];
  /** HTML of the page's content. */
  readonly content: string;
  readonly markdown?: string | undefined;
}

function contentOf(name: string): string {
  return readFileSync(join(SOURCES, `${name}.html`), "utf8");
}

/** @param search name of the index that pages search */
function pagesOf(site: ReturnType<typeof docsSite>, search: string): Page[] {
  return [
    {
      path: "/upload",
      title: "Upload · Work items",
      description: "Import a file from another system, and look at your items.",
      styles: ["site.css", "upload.css"],
      scripts: ["upload.js"],
      content: contentOf("upload"),
    },
    ...site.pages.map(({ path, title, description, content, markdown }): Page => ({
      path,
      title: `${title} · Work items`,
      description,
      styles: ["site.css", "docs.css"],
      scripts: ["docs.js"],
      content: content.text.replace("{{search}}", search),
      markdown,
    })),
  ];
}

function htmlOf(
  { title, description, styles, scripts, content, path, markdown }: Page,
  nameOf: Readonly<Record<Entry, string>>,
): string {
  return contentOf("layout")
    .replaceAll("{{title}}", () => html`${title}`.text)
    .replace("{{description}}", () => html`${description}`.text)
    .replace(
      "{{head}}",
      [
        ...(markdown === undefined
          ? []
          : [`<link rel="alternate" type="text/markdown" href="{{root}}${path.slice(1)}.md" />`]),
        ...styles.map((entry) => `<link rel="stylesheet" href="{{root}}assets/${nameOf[entry]}" />`),
        ...scripts.map((entry) => `<script type="module" src="{{root}}assets/${nameOf[entry]}"></script>`),
      ].join("\n    "),
    )
    .replace(`data-path="${path.startsWith("/docs") ? "/docs" : path}"`, 'aria-current="page"')
    .replaceAll(/ data-path="[^"]*"/g, "")
    .replace("{{content}}", () => content);
}

/** Writes all pages, their assets in every coding, and the index of both, into a directory. */
export async function buildPages(outdir: string): Promise<void> {
  mkdirSync(outdir, { recursive: true });
  const { nameOf, files } = await buildAssets();
  const index: PageIndex = { pages: {}, assets: {} };
  const site = docsSite();
  const searched = Buffer.from(site.search);
  const search = `search-${createHash("sha256").update(searched).digest("hex").slice(0, 8)}.json`;
  files.set(search, searched);
  for (const [name, bytes] of files) {
    index.assets[name] = MEDIA_TYPES[extname(name)] ?? "application/octet-stream";
    for (const coding of Object.keys(CODINGS) as (keyof typeof CODINGS)[]) {
      writeFileSync(join(outdir, name + CODINGS[coding]), COMPRESS[coding](bytes));
    }
  }
  const put = (path: string, extension: string, text: string): void => {
    const file = `${path.slice(1).replaceAll("/", "-") || "home"}${extension}`;
    index.pages[path] = file;
    writeFileSync(join(outdir, file), text);
  };
  for (const page of pagesOf(site, search)) {
    put(page.path, ".html", htmlOf(page, nameOf));
    if (page.markdown !== undefined) put(`${page.path}.md`, "", page.markdown);
  }
  put("/llms.txt", "", site.list);
  writeFileSync(join(outdir, INDEX_FILE), JSON.stringify(index));
}

if (import.meta.main) await buildPages(process.argv[2] ?? "");
