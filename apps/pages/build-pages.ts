import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";
import { CODINGS, INDEX_FILE, type PageIndex } from "@work-items/lib/http/page-endpoint.ts";
import { type Html, html } from "./docs/html.ts";
import { allPictures } from "./docs/pictures.ts";
import { docsSite, type Page } from "./docs/site.ts";
import { buildPackages, type Package } from "./packages.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SOURCES = join(ROOT, "apps/pages");

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".webp": "image/webp",
};

/** The oldest browsers that have what the pages use, such as light-dark() and the methods of sets. */
const BROWSERS = ["chrome123", "edge123", "firefox128", "safari17.5"];
/** Shown in browsers without light-dark(). */
const NEEDS = "This page needs a newer browser: Chrome or Edge 123, Firefox 128, Safari 17.5, or later.";

/** The scripts and style sheets of the pages. */
const ENTRIES = ["browser/docs.ts", "browser/upload.tsx", "docs.css", "upload.css"];
/** Without this setting zod tries to generate code, which the pages' policy forbids. It reads the setting when it is loaded. */
const ZOD_SETTING = "(globalThis.__zod_globalConfig ??= {}).jitless = true;";

async function buildAssets() {
  const { outputFiles, metafile } = await build({
    absWorkingDir: SOURCES,
    entryPoints: ENTRIES,
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    target: BROWSERS,
    jsx: "automatic",
    jsxImportSource: "preact",
    entryNames: "[name]-[hash]",
    legalComments: "none",
    banner: { js: ZOD_SETTING },
    logLevel: "silent",
    metafile: true,
    write: false,
    outdir: "out",
  });
  return {
    /** The name of an entry's built file. */
    nameOf: (entry: string): string =>
      basename(Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === entry)![0]),
    files: new Map(outputFiles.map(({ path, contents }) => [basename(path), contents])),
  };
}

const COMPRESS = {
  // Higher qualities take ten times as long and save a tenth of the bytes.
  br: (bytes: Uint8Array) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes: Uint8Array) => gzipSync(bytes, { level: 9 }),
} as const;

const UPLOAD: Page = {
  path: "/upload",
  title: "Import",
  description: "Import a file from another system, and look at your items.",
  content: html`<main id="content" data-root="{{root}}">
    <noscript><p class="text">This page needs JavaScript.</p></noscript>
  </main>`,
};

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%232456d6'/%3E%3Cpath d='M4 8l3 3 5-6' fill='none' stroke='white' stroke-width='2'/%3E%3C/svg%3E";

/** A page with the frame that all pages have. */
function layoutOf(page: Page, nameOf: (entry: string) => string): Html {
  const { path, title, description, content, markdown } = page;
  const [script, styles] = page === UPLOAD ? ["browser/upload.tsx", "upload.css"] : ["browser/docs.ts", "docs.css"];
  const current = (start: string): Html | false =>
    (path === start || path.startsWith(`${start}/`)) && html` aria-current="page"`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content="${description}" />
        <title>${title} · Work items</title>
        <link rel="icon" href="${ICON}" />
        ${markdown !== undefined && html`<link rel="alternate" type="text/markdown" href="{{root}}${path.slice(1)}.md" />`}
        <link rel="stylesheet" href="{{root}}assets/${nameOf(styles)}" />
        <script type="module" src="{{root}}assets/${nameOf(script)}"></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header class="bar">
          <nav aria-label="Pages">
            <a class="brand" href="{{root}}" ${current("/")}
              ><img src="${ICON}" alt="" width="22" height="22" />Work items</a
            >
            <a href="{{root}}docs" ${current("/docs")}>Documentation</a>
            <a href="{{root}}upload" ${current("/upload")}>Import</a>
          </nav>
          ${page === UPLOAD && html`<p class="warning needs">${NEEDS}</p>`}
        </header>
        ${content}
      </body>
    </html> `;
}

/** A page or its Markdown, in which packages have the names of their files. */
function withFileNames(text: string, packages: readonly Package[]): string {
  return packages.reduce(
    (changed, { file, name, integrity }) =>
      changed.replaceAll(file.replace(/[^-]+$/, "HASH.tgz"), file).replaceAll(`\`sha512-${name}\``, `\`${integrity}\``),
    text,
  );
}

/** Writes all pages, packages, assets in every coding, and the index of all, into a directory. */
export async function buildPages(outdir: string): Promise<void> {
  mkdirSync(outdir, { recursive: true });
  const [{ nameOf, files }, packages] = await Promise.all([buildAssets(), buildPackages()]);
  const index: PageIndex = { pages: {}, assets: {}, packages: packages.map(({ file }) => file) };
  for (const { file, bytes } of packages) writeFileSync(join(outdir, file), bytes);
  const site = docsSite();
  const searched = Buffer.from(site.search);
  const search = `search-${createHash("sha256").update(searched).digest("hex").slice(0, 8)}.json`;
  files.set(search, searched);
  for (const { asset, bytes } of allPictures()) files.set(asset, bytes);
  for (const [name, bytes] of files) {
    index.assets[name] = MEDIA_TYPES[extname(name)] ?? "application/octet-stream";
    for (const coding of Object.keys(CODINGS) as (keyof typeof CODINGS)[]) {
      writeFileSync(join(outdir, name + CODINGS[coding]), COMPRESS[coding](bytes));
    }
  }
  const put = (path: string, extension: string, text: string): void => {
    const file = `${path.slice(1).replaceAll("/", "-") || "home"}${extension}`;
    index.pages[path] = file;
    writeFileSync(join(outdir, file), withFileNames(text, packages));
  };
  for (const page of [UPLOAD, ...site.pages]) {
    put(page.path, ".html", layoutOf(page, nameOf).text.replace("{{search}}", search));
    if (page.markdown !== undefined) put(`${page.path}.md`, "", page.markdown);
  }
  put("/llms.txt", "", site.list);
  writeFileSync(join(outdir, INDEX_FILE), JSON.stringify(index));
}

if (import.meta.main) await buildPages(process.argv[2] ?? "");
