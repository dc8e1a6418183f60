import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Story } from "./run-world.ts";
import type { Hostility } from "./world/hostilities.ts";

const ROOT = join(import.meta.dirname, "../..");

/** A defect that the service has had, or could have: a change of its text. */
interface Mutant {
  /** What goes wrong with it. */
  readonly defect: string;
  readonly file: string;
  readonly text: string;
  readonly instead: string;
  /** The world finds it if these go wrong. */
  readonly foundBy: readonly Hostility[];
  /** What happens in the worlds that find it. @default what each seed chooses */
  readonly story?: Story;
}

/** Each of these must be found. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  merge: {
    defect: "attributes replace all others",
    file: "lib/work-items/field-kinds.ts",
    text: "JSON.stringify({ ...attributes, ...Object.fromEntries(changed) })",
    instead: "JSON.stringify(Object.fromEntries(changed))",
    foundBy: ["slowness"],
    story: "imports",
  },
  cell: {
    defect: "JSON in a cell stays a text",
    file: "lib/cell-value.ts",
    text: 'return kind === "json" ? readJson(text) : text;',
    instead: "return text;",
    foundBy: ["slowness"],
    story: "imports",
  },
  unknown: {
    defect: "a write whose response was lost is planned again",
    file: "lib/store/optimistic-write.ts",
    text: 'kind === "unknown") entry.uncertain.push(attempt);',
    instead: 'kind === "unknown") undefined;',
    foundBy: ["silence"],
  },
  margin: {
    defect: "a first load begins at a position that its list may lag behind",
    file: "lib/changes/feed-cursor.ts",
    text: "const MARGIN_MS = 15 * 60 * 1000;",
    instead: "const MARGIN_MS = 0;",
    foundBy: ["lag"],
  },
  adopted: {
    defect: "an undo deletes what its upload created, though others have changed it",
    file: "lib/work-items/undo/layers.ts",
    text: "  adopt(layers, changes.keys());\n",
    instead: "",
    foundBy: [],
  },
  "undo marks": {
    defect: "an undo doesn't find again what it has done",
    file: "lib/work-items/undo/undo-record.ts",
    text: "if (done === undefined) return",
    instead: "if (done === undefined || done.names.length >= 0) return",
    foundBy: [],
    story: "undos",
  },
  "undo job": {
    defect: "the undo after a cancelled one counts again what that has done",
    file: "lib/uploads/chain/claimed-shard.ts",
    text: "        job,\n        createdAt",
    instead: "        job: undone?.id ?? job,\n        createdAt",
    foundBy: [],
    story: "undos",
  },
  "undo both": {
    defect: "a row of an undo counts what was done to its item, whatever was done to its event",
    file: "lib/work-items/undo/undo-work-items.ts",
    text: "const parts = [item, ...events].map(",
    instead: "const parts = [item].map(",
    foundBy: [],
    story: "undos",
  },
  "undo write": {
    defect: "a record does not remember a row if nothing of it changes",
    file: "lib/work-items/undo/undo-record.ts",
    text: "const isOpen = plan.undo !== undo;",
    instead: 'const isOpen = plan.undo !== undo && outcome !== "kept" && outcome !== "unchanged";',
    foundBy: [],
    story: "undos",
  },
  "undo date": {
    defect: "the results of an undo don't name a date that others gave to a completion that is taken back",
    file: "lib/work-items/undo/undo-record.ts",
    text: "const becomesUnfinished = ",
    instead: "const becomesUnfinished = plan.kept.size < 0 && ",
    foundBy: [],
    story: "undos",
  },
  "undo cleared": {
    defect: "an undo doesn't bring back attributes that its import removed",
    file: "lib/work-items/changed-fields.ts",
    text: "new Set([...from.keys(), ...to.keys()])",
    instead: "to.keys()",
    foundBy: [],
    story: "undos",
  },
  "undo rows": {
    defect: "rows without an ID are not counted",
    file: "lib/uploads/chain/undo-rows.ts",
    text: 'if (externalId === "" && !recognizesOnly)',
    instead: 'if (externalId === "" && recognizesOnly)',
    foundBy: [],
    story: "undos",
  },
  unnotified: {
    defect: "webhooks aren't notified",
    file: "lib/changes/change-queue-worker.ts",
    text: "await notifyWebhooks(organization, position, [...jobs]);",
    instead: "",
    foundBy: ["receivers"],
  },
  tests: {
    defect: "a test of a webhook is sent while another message is, and takes its claim",
    file: "lib/webhooks/endpoint-state.ts",
    text: 'return waitForCall(state, now) ?? { kind: "send", message: { id: messageId',
    instead: 'return { kind: "send", message: { id: messageId',
    foundBy: ["receivers"],
  },
};

/** A mutant's file, and its changed text. @throws Error if the file doesn't have the text once: the mutant is out of date */
export function changedFile(name: string): { readonly path: string; readonly source: string } {
  const mutant = MUTANTS[name];
  if (mutant === undefined) throw new Error(`there is no mutant ${name}`);
  const { file, text, instead } = mutant;
  const path = join(ROOT, file);
  const source = readFileSync(path, "utf8");
  if (source.split(text).length !== 2) throw new Error(`${file} does not have "${text}" once`);
  return { path, source: source.replace(text, () => instead) };
}

/** Changes a file of the service as it is loaded. */
export function load(name: string): void {
  const { path, source } = changedFile(name);
  const url = pathToFileURL(path).href;
  registerHooks({
    load: (loaded, context, next) => {
      const result = next(loaded, context);
      return loaded === url ? { ...result, source } : result;
    },
  });
}
