import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build, type Metafile } from "esbuild";
import { create } from "tar";
import * as client from "work-items-client/client.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The oldest in which CommonJS can `require` the client's modules. The command is tested in them, too. */
const ENGINES = { node: "^20.19 || >=22.12" };

/** A package that npm installs from this service. */
export interface Package {
  /** Name of its file, with a hash of the content, such as `work-items-client-1.0.0-3f2a91c0d4e5.tgz`. */
  readonly file: string;
  readonly bytes: Buffer;
  readonly name: string;
  /** As npm writes it into a lock file. */
  readonly integrity: string;
}

function manifestIn(folder: string): { readonly version: string; readonly [name: string]: unknown } {
  return JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as ReturnType<typeof manifestIn>;
}

/** Packs a folder. The same files always make the same bytes, because times and owners are left out. */
async function pack(folder: string, manifest: Readonly<Record<string, unknown>>): Promise<Package> {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  const files = readdirSync(folder, { recursive: true }).map(String);
  const isFile = (name: string): boolean => statSync(join(folder, name)).isFile();
  const options = { cwd: folder, gzip: { level: 9 }, portable: true, prefix: "package", mtime: new Date(0) };
  const bytes = await create(options, files.filter(isFile).toSorted()).concat();
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  const name = String(manifest["name"]);
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  return { file: `${name}-${String(manifest["version"])}-${hash}.tgz`, bytes, name, integrity };
}

/** The licences of the packages whose code a bundle contains. MIT, BSD and ISC ask for their notices in every copy. */
function noticesOf({ inputs }: Metafile): string {
  const found = Object.keys(inputs).flatMap(
    (input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0] ?? [],
  );
  const notices = [...new Set(found)].toSorted().flatMap((folder) => {
    const { name, version, license } = manifestIn(folder);
    const files = readdirSync(join(ROOT, folder)).filter((file) => /^(?:licen[cs]e|notice)/i.test(file));
    const texts = files.map((file) => readFileSync(join(ROOT, folder, file), "utf8").trim());
    return [[`${String(name)} ${version} (${String(license)})`, ...texts].join("\n\n")];
  });
  return `${notices.join("\n\n----\n\n")}\n`;
}

/** Types of the client's one module for CommonJS, where TypeScript's `node16` rejects imports of a module's own types. */
function commonJsTypes(): string {
  const module = '"./client.js" with { "resolution-mode": "import" };';
  // Sorted, because vitest's modules have their exports in another order.
  const exported = Object.entries(client).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const declarations = exported.flatMap(([name, value]) => [
    `export declare const ${name}: typeof client.${name};`,
    ...(String(value).startsWith("class ") ? [`export type ${name} = client.${name};`] : []),
  ]);
  return [`import type * as client from ${module}`, `export type * from ${module}`, ...declarations, ""].join("\n");
}

/** The client in JavaScript, with its types. */
async function packClient(folder: string): Promise<Package> {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const project = join(ROOT, "apps/client/tsconfig.json");
  await promisify(execFile)(process.execPath, [tsc, "-p", project, "--outDir", join(folder, "dist")]);
  cpSync(join(ROOT, "apps/client/README.md"), join(folder, "README.md"));
  const { name, version, description, license, type, dependencies } = manifestIn("apps/client");
  const entry = "./dist/apps/client/client";
  const types = { require: `${entry}.d.cts`, default: `${entry}.d.ts` };
  writeFileSync(join(folder, types.require), commonJsTypes());
  const exports = { ".": { types, default: `${entry}.js` } };
  return pack(folder, { name, version, description, license, type, exports, dependencies, engines: ENGINES });
}

/** The command in one file, with the client and the importer inside. */
async function packCommand(folder: string): Promise<Package> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    metafile: true,
    entryPoints: ["apps/cli/work-items-command.ts"],
    inject: ["apps/cli/older-node.ts"],
    bundle: true,
    minifyWhitespace: true,
    platform: "node",
    target: "node20",
    banner: { js: "#!/usr/bin/env node" },
    logLevel: "silent",
    outfile: join(folder, "work-items.cjs"),
  });
  chmodSync(join(folder, "work-items.cjs"), 0o755);
  writeFileSync(join(folder, "NOTICES"), noticesOf(metafile));
  const { version, license } = manifestIn("apps/client");
  const { description } = manifestIn("apps/cli");
  const bin = { "work-items": "work-items.cjs" };
  return pack(folder, { name: "work-items", version, description, license, bin, engines: ENGINES });
}

/** Builds the packages for callers: the client and the command. */
export async function buildPackages(): Promise<readonly Package[]> {
  const folders = [packClient, packCommand].map((packInto) => ({
    packInto,
    folder: mkdtempSync(join(tmpdir(), "package-")),
  }));
  try {
    return await Promise.all(folders.map(({ packInto, folder }) => packInto(folder)));
  } finally {
    for (const { folder } of folders) rmSync(folder, { recursive: true, force: true });
  }
}
