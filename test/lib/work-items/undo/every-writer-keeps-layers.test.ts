import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROJECT_ROOT } from "../../../../infra/build.ts";

/** What writes to tables, by the SDK or by our own functions. */
const WRITES =
  /\b(?:optimisticWrite(?:One)?|changeRecord|toUpdate)[<(]|\bnew (?:Put|Update|Delete|TransactWrite|BatchWrite|BatchExecuteStatement)\w*Command\(/;
/** Files that write to the table of work items without the layers by which imports are undone, and why they may. */
const WITHOUT_LAYERS: Readonly<Record<string, string>> = {
  "apps/operator/data/customer-records.ts": "deletes records",
  "apps/operator/data/erasure-pass.ts": "deletes records",
  "apps/operator/data/reapply-erasures.ts": "writes the note of a restored table",
  "lib/changes/heartbeats.ts": "writes heartbeats",
  "lib/conversation-uploads/conversation-upload-store.ts": "writes conversation uploads",
  "lib/store/data-version.ts": "writes the version of the table",
  "lib/store/record-store.ts": "writes what others plan",
  "lib/store/table-origin.ts": "writes the origin of the table",
  "lib/uploads/job/shard-store.ts": "writes shards",
  "lib/uploads/job/upload-store.ts": "writes jobs",
  "lib/work-items/erase-items.ts": "deletes items with their events",
  "lib/work-items/work-item-creation.ts": "creates items that were never there, so without layers",
};
/** Writers of events, which must also tell the item. */
const WRITERS_OF_EVENTS = ["apps/operator/data/import-organization.ts", "lib/work-items/change-work-item-event.ts"];

const textOf = (path: string): string => readFileSync(join(PROJECT_ROOT, path), "utf8");
const writers = globSync("{lib,functions,apps}/**/*.ts", { cwd: PROJECT_ROOT })
  .filter((path) => !path.includes("node_modules") && !path.startsWith("lib/work-items/undo/"))
  .filter((path) => {
    const text = textOf(path);
    return WRITES.test(text) && /WORK_ITEMS_TABLE|"workItems"|createRecordStore/.test(text);
  })
  .toSorted();

test("every writer of items and events keeps their layers, by the module of undo", () => {
  const without = writers.filter((path) => !/from "[^"]*\/?undo\/(?:undo|layers)\.ts"/.test(textOf(path)));
  expect(without).toEqual(Object.keys(WITHOUT_LAYERS));
  for (const path of WRITERS_OF_EVENTS) expect([path, textOf(path).includes("writeWithEvent(")]).toEqual([path, true]);
});
