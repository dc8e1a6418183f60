import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import type { Rules } from "./undo-model.ts";

const FILE = join(import.meta.dirname, "../../../lib/work-items/undo-layers.ts");

interface Mutant {
  /** What the rules say and the mutant doesn't. */
  readonly rule: string;
  readonly text: string;
  readonly instead: string;
  /** A seed in which something goes wrong with it. */
  readonly seed: number;
}

/** The rules for layers, each with a change of their text that breaks it. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  strike: {
    rule: "every other writer takes what it changes out of the layers",
    text: "for (const field of changes.keys()) strike(layers, field);",
    instead: "",
    seed: 1,
  },
  names: {
    rule: "what is taken out stays as a name",
    text: "if (fields[field]) fields[field] = null;",
    instead: "delete fields[field];",
    seed: 1,
  },
  splice: {
    rule: "an undo hands what was before to the next layer above that has the field",
    text: "if (above) above.fields[field] = before;",
    instead: "if (above) continue;",
    seed: 2,
  },
  handover: {
    rule: "a record that an import made and another import uses passes to that import",
    text: "if (heir && isMaker(layers[made]!)) {",
    instead: "if (heir && isMaker(layers[made]!) && layers.length === 0) {",
    seed: 11,
  },
  heir: {
    rule: "so does the restoring of a record",
    text: "?? (field === DELETED_AT ? heir : undefined)",
    instead: "",
    seed: 8,
  },
  blank: {
    rule: "a record that an import made goes back to empty fields",
    text: "else back.set(field, before);",
    instead: "else if (!isMaker(layer) || field === DELETED_AT) back.set(field, before);",
    seed: 1,
  },
  adopt: {
    rule: "whoever else changes a record that an import made adopts all of it",
    text: "layer.fields = DELETED_AT in layer.fields ? { ...names } : {};",
    instead: "",
    seed: 16,
  },
  below: {
    rule: "and what that import changed of others' fields",
    text: "for (const job of makers) strikeBelow(layers, job);",
    instead: "",
    seed: 120,
  },
  never: {
    rule: "a record whose making was undone counts as never made",
    text: "if (undo.isUnmade && changes.has(DELETED_AT)) changes.set(DELETED_AT, []);",
    instead: "",
    seed: 104,
  },
  top: {
    rule: "an import that changes a record has a layer above those of others that made or restored it",
    text: "  cover(layers, job);\n  return",
    instead: "  return",
    seed: 1259,
  },
  prune: {
    rule: "dropping a job's layers takes its fields out of the layers below",
    text: "strikeBelow(left, job);",
    instead: "",
    seed: 47,
  },
  repeat: {
    rule: "an import that changes a field again keeps what was first",
    text: "if (holderOf(layers, field)?.job === job.id) continue;",
    instead: "",
    seed: 13,
  },
  dropped: {
    rule: "an import whose layers were dropped changes the record like anyone else",
    text: "if (isDropped(undo, job)) return afterWrite(undo, before, next);",
    instead: "",
    seed: 112,
  },
  implied: {
    rule: "the layers above say what the one that made the record left",
    text: "for (const { fields } of layers.slice(maker + 1).toReversed()) {",
    instead: "for (const { fields } of layers.slice(layers.length)) {",
    seed: 22,
  },
  jobs: {
    rule: "a record keeps the layers of three jobs",
    text: "const JOBS_MAX = 3;",
    instead: "const JOBS_MAX = 2;",
    seed: 1,
  },
};

/** The rules with a mutant in place of one of them. */
export async function loadMutant({ text, instead }: Mutant): Promise<Rules> {
  const source = readFileSync(FILE, "utf8");
  const parts = source.split(text);
  if (parts.length !== 2) throw new Error(`undo-layers.ts has this ${parts.length - 1} times, and not once: ${text}`);
  const { outputFiles } = await build({
    stdin: { contents: parts.join(instead), resolveDir: join(FILE, ".."), loader: "ts" },
    bundle: true,
    platform: "node",
    format: "esm",
    write: false,
  });
  return (await import(`data:text/javascript,${encodeURIComponent(outputFiles[0]!.text)}`)) as Rules;
}
