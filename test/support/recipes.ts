import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../infra/build.ts";

/** Where a code block of CONTRIBUTING.md goes: before a line that starts so, or into a file of its own. */
type Place = readonly [file: string, before?: string];

const FIELDS = "lib/work-items/work-item-fields.ts";

/** The places of the code blocks, by how a block starts. */
const PLACES: Readonly<Record<string, Place>> = {
  "import { number }": [FIELDS, "import { field }"],
  "const PRIORITY_RANGE": [FIELDS, "/** Fields of a work item that callers set"],
  "priority: field(": [FIELDS, "  custom_attributes: field"],
  "priority: fc": ["test/lib/work-items/every-field.test.ts", "  custom_attributes: fc"],
  "getOrganization: () =>": ["functions/routes/service.ts", "  getHealth: () =>"],
  "import type { ApiHandler }": ["functions/get-organization.ts"],
  "getOrganization: {": ["functions/routes/service.ts", "    getHealth: {"],
  "ap: {": ["lib/regions.ts", "} as const satisfies Record"],
};

/** Copies the checkout, without its dependencies, which it shares. @returns the directory of the copy */
export function copyCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), "work-items-recipes-"));
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: PROJECT_ROOT, encoding: "utf8" });
  for (const file of files.trim().split("\n")) cpSync(join(PROJECT_ROOT, file), join(copy, file));
  symlinkSync(join(PROJECT_ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** The `ts` blocks of CONTRIBUTING.md, but not those of a table, which isn't complete without a store of its own. */
function codeBlocks(): string[] {
  const text = readFileSync(join(PROJECT_ROOT, "CONTRIBUTING.md"), "utf8");
  const recipes = text.replace(/^### With a table of its own$[^]*?(?=^## )/m, "");
  return [...recipes.matchAll(/^( *)```ts\n([^]*?)^ *```$/gm)].map(([, indent = "", code = ""]) =>
    code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  );
}

/** Puts the code blocks of all recipes into a copy. @throws Error naming a block, or the line before which it goes */
export function applyRecipes(copy: string): void {
  const blocks = codeBlocks();
  for (const start of Object.keys(PLACES)) {
    if (!blocks.some((code) => code.startsWith(start))) throw new Error(`CONTRIBUTING.md has no code block ${start}`);
  }
  for (const code of blocks) {
    const [, place] = Object.entries(PLACES).find(([start]) => code.startsWith(start)) ?? [];
    if (place === undefined) throw new Error(`say in PLACES where this block goes:\n${code}`);
    const [file, before] = place;
    const path = join(copy, file);
    const text = before === undefined ? "" : readFileSync(path, "utf8");
    const at = before === undefined ? 0 : text.indexOf(`\n${before}`) + 1;
    if (before !== undefined && at === 0) throw new Error(`${file} has no line that starts with ${before}`);
    writeFileSync(path, `${text.slice(0, at)}${code}${text.slice(at)}`);
  }
}
