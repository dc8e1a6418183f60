import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Hostility } from "./world/hostilities.ts";

const ROOT = join(import.meta.dirname, "../..");

/** A defect that the service has had, or could have: a change of its text. */
interface Mutant {
  /** What goes wrong with it. */
  readonly defect: string;
  readonly file: string;
  readonly text: string;
  readonly instead: string;
  /** What has to go wrong for it to do harm. */
  readonly hostilities: readonly Hostility[];
}

/** The world must find each of these. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  unknown: {
    defect: "a write whose response was lost is planned again",
    file: "lib/store/optimistic-write.ts",
    text: 'if (kind === "unknown") entry.uncertain.push(attempt);',
    instead: "",
    hostilities: ["silence"],
  },
  empty: {
    defect: "an empty response means that nothing is there",
    file: "lib/aws/dynamodb-client.ts",
    text: "if (!isOwn || ",
    instead: "if ((!isOwn && bytes.length > 0) || ",
    hostilities: ["damage"],
  },
  marks: {
    defect: "items don't remember which rows they have seen",
    file: "lib/work-items/write-targets.ts",
    text: "        marks?.attributes(),\n",
    instead: "",
    hostilities: ["deaths", "messages"],
  },
  margin: {
    defect: "a first load begins with a mark that its list may lag behind",
    file: "lib/changes/mark.ts",
    text: "const MARGIN_MS = 15 * 60 * 1000;",
    instead: "const MARGIN_MS = 0;",
    hostilities: ["lag"],
  },
};

/** Changes a file of the service as it is loaded. @throws Error if it has no such text: the mutant is out of date */
export function load(name: string): void {
  const mutant = MUTANTS[name];
  if (mutant === undefined) throw new Error(`there is no mutant ${name}`);
  const { file, text, instead } = mutant;
  const path = join(ROOT, file);
  const source = readFileSync(path, "utf8");
  if (source.split(text).length !== 2) throw new Error(`${file} does not have "${text}" once`);
  const url = pathToFileURL(path).href;
  registerHooks({
    load: (loaded, context, next) => {
      const result = next(loaded, context);
      return loaded === url ? { ...result, source: source.replace(text, () => instead) } : result;
    },
  });
}
