import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import type * as Item from "../../../apps/operator/data/erase-item.ts";
import type * as Ledger from "../../../apps/operator/data/erasure-ledger.ts";
import type * as Restored from "../../../apps/operator/data/reapply-erasures.ts";

/** What the model tries: the operator's own code. */
export type Code = Pick<typeof Item, "eraseItem"> &
  Pick<typeof Ledger, "keptInLedger"> &
  Pick<typeof Restored, "assertLedgerOf" | "missingErasure" | "reapplyErasures">;

const ROOT = join(import.meta.dirname, "../../..");
const DATA = join(ROOT, "apps/operator/data");
const FILES = ["erase-item.ts", "erasure-ledger.ts", "reapply-erasures.ts"];

/** A change of the text of the code that breaks a rule, and a history in which something goes wrong with it. */
type Mutant = readonly [text: string, instead: string, seed: number];

/** The rules of erasures and restored tables, each with what breaks it. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  "an interrupted erasure is about what was there before it": [
    "at === undefined || at > since",
    "at !== undefined && at > since",
    2,
  ],
  "an interrupted erasure ends with the next one": ["return ends.toSorted()[0];", "return undefined;", 16],
  "or with one of the whole organization": ["&& (isSame || isWhole(later))", "&& isSame", 179],
  "a record without a time is judged by what it belongs to": [
    'return typeof created === "string" && created < time;',
    'return typeof created !== "string" || created < time;',
    79,
  ],
  "a restored table says itself what was applied to it": [
    'return { TableName: environment.WORK_ITEMS_TABLE, Key: { pk: partitionKeyOf("ORIGIN", "table"), sk: "#APPLIED" } };',
    'const { AUDIT_TABLE: TableName = "", WORK_ITEMS_TABLE: name } = environment as typeof environment & { readonly AUDIT_TABLE?: string }; return { TableName, Key: { pk: `RESTORED#${name}`, sk: "#RESTORED" } };',
    2,
  ],
  "an interrupted erasure of an item can be run again": [
    "isGone && !(await isItemPending(runtime, organization, id))",
    "isGone",
    19,
  ],
};

/** The code, with a mutant in place of one of its rules. */
export async function loadCode(mutant?: Mutant): Promise<Code> {
  const [text, instead] = mutant ?? ["", ""];
  const found = FILES.reduce((sum, name) => sum + readFileSync(join(DATA, name), "utf8").split(text).length - 1, 0);
  if (mutant && found !== 1) throw new Error(`${FILES.join(" and ")} have this ${found} times, and not once: ${text}`);
  const name = mutant ? Object.values(MUTANTS).indexOf(mutant) : "code";
  const outfile = join(ROOT, `node_modules/.cache/erasures-${process.pid}/${name}.mjs`);
  await build({
    stdin: { contents: FILES.map((file) => `export * from "./${file}";`).join("\n"), resolveDir: DATA, loader: "ts" },
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    outfile,
    plugins: [
      {
        name: "mutant",
        setup: (bundler) => {
          bundler.onLoad({ filter: /operator\/data\/[a-z-]+\.ts$/ }, ({ path }) => {
            const source = readFileSync(path, "utf8");
            return { contents: mutant ? source.replace(text, () => instead) : source, loader: "ts" };
          });
        },
      },
    ],
  });
  return (await import(pathToFileURL(outfile).href)) as Code;
}
