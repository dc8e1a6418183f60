import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import type { Rules } from "./undo-model.ts";

const ROOM = join(import.meta.dirname, "../../../lib/work-items/undo");
const FILES = ["layers.ts", "plan-undo.ts"];

/** A change of the rules' text that breaks one, and a seed in which something goes wrong with it. */
type Mutant = readonly [text: string, instead: string, seed: number];

/** The rules for layers, each with a change that breaks it. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  "every other writer takes what it changes out of the layers": [
    "for (const field of changes.keys()) strike(layers, field);",
    "",
    1,
  ],
  "what is taken out stays as a name": ["if (fields[field]) fields[field] = null;", "delete fields[field];", 1],
  "an undo hands what was before to the next layer above that has the field": [
    "if (above) above.fields[field] = before;",
    "if (above) continue;",
    2,
  ],
  "a record that an import made and another import uses passes to that import": [
    "if (heir && isMaker(layers[made]!)) {",
    "if (heir && isMaker(layers[made]!) && layers.length === 0) {",
    11,
  ],
  "so does the restoring of a record": ["?? (field === DELETED_AT ? heir : undefined)", "", 8],
  "a record that an import made goes back to empty fields": [
    "else back.set(field, before);",
    "else if (!isMaker(layer) || field === DELETED_AT) back.set(field, before);",
    1,
  ],
  "whoever else changes a record that an import made adopts all of it": [
    "if (makers.has(layer.job)) layer.fields = isHeld ? { ...names } : {};",
    "if (makers.has(layer.job)) layer.fields = { ...layer.fields };",
    16,
  ],
  "and what that import changed of others' fields": ["for (const job of makers) strikeBelow(layers, job);", "", 120],
  "a record whose making was undone counts as never made": [
    "undo.isUnmade && field === DELETED_AT ? [] : from;",
    "from;",
    104,
  ],
  "an import that changes a record has a layer above those of others that made or restored it": [
    "  cover(layers, job);\n  return",
    "  return",
    1259,
  ],
  "dropping a job's layers takes its fields out of the layers below": ["strikeBelow(left, job);", "", 47],
  "an import that changes a field again keeps what was first": [
    "if (holderOf(layers, field)?.job === job.id) continue;",
    "",
    13,
  ],
  "an import whose layers were dropped changes the record like anyone else": [
    "if (isDropped(undo, job)) return afterWrite(undo, before, next);",
    "",
    112,
  ],
  "the layers above say what the one that made the record left": [
    "for (const { fields } of layers.slice(maker + 1).toReversed()) {",
    "for (const { fields } of layers.slice(layers.length)) {",
    22,
  ],
  "a record keeps the layers of three jobs": ["const JOBS_MAX = 3;", "const JOBS_MAX = 2;", 1],
};

/** The rules with a mutant in place of one of them. */
export async function loadMutant([text, instead]: Mutant): Promise<Rules> {
  const sources = FILES.map((name) => readFileSync(join(ROOM, name), "utf8"));
  const found = sources.reduce((sum, source) => sum + source.split(text).length - 1, 0);
  if (found !== 1) throw new Error(`${FILES.join(" and ")} have this ${found} times, and not once: ${text}`);
  const { outputFiles } = await build({
    stdin: { contents: FILES.map((name) => `export * from "./${name}";`).join("\n"), resolveDir: ROOM, loader: "ts" },
    bundle: true,
    platform: "node",
    format: "esm",
    write: false,
    plugins: [
      {
        name: "mutant",
        setup: (bundler) => {
          bundler.onLoad({ filter: /undo\/[a-z-]+\.ts$/ }, ({ path }) => ({
            contents: readFileSync(path, "utf8").replace(text, () => instead),
            loader: "ts",
          }));
        },
      },
    ],
  });
  return (await import(`data:text/javascript,${encodeURIComponent(outputFiles[0]!.text)}`)) as Rules;
}
