import * as z from "zod";
import { count } from "../../schema.ts";

/**
 * The counters of rows: their names in shards, and their names and descriptions in jobs. Shards, jobs, sums and responses have
 * what stands here. `succeeded` is the sum of all others except `failed`.
 */
const COUNTERS = {
  succeeded: ["succeeded_rows", "Number of rows that were applied or, by an undo, processed."],
  failed: ["failed_rows", "Number of rows that couldn't be applied."],
  created: ["created_rows", "Number of rows that created an item. Extension."],
  updated: ["updated_rows", "Number of rows that changed an item. Extension."],
  unchanged: [
    "unchanged_rows",
    "Number of rows that changed nothing, or for which an undo had nothing to restore. Extension.",
  ],
  restored: ["restored_rows", "Number of rows that restored a deleted item. Extension."],
  deleted: [
    "deleted_rows",
    "Number of rows whose item an undo deleted, because the undone upload created it. Extension.",
  ],
  undone: ["undone_rows", "Number of rows whose item and event an undo fully restored. Extension."],
  partly: [
    "partly_undone_rows",
    "Number of rows whose item and event an undo only partly restored, because others have changed them since. Extension.",
  ],
  kept: ["kept_rows", "Number of rows whose item and event an undo left as they were. Extension."],
} as const;
/** Name of a counter in shards. */
export type CounterName = keyof typeof COUNTERS;
/** Name of a counter in jobs. */
type RowCounterName = (typeof COUNTERS)[CounterName][0];
const counterNames = Object.keys(COUNTERS) as CounterName[];
const rowCounters: readonly (readonly [RowCounterName, string])[] = Object.values(COUNTERS);

/** Values by the names of some counters. */
function byName<N extends string, V>(names: readonly N[], valueOf: (name: N) => V): Record<N, V> {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<N, V>;
}

/** What a shard stores of its counters. */
export function counterFields() {
  return {
    ...byName(counterNames, () => z.int().default(0)),
    /** Of the dry run of a file: in how many rows each field changes. */
    changed_fields: z.record(z.string(), z.int()).default({}),
  };
}

/** Numbers of rows by outcome, and by field that changes. */
export type Counters = Readonly<Record<CounterName, number>> & {
  readonly changed_fields: Readonly<Record<string, number>>;
};

/** Counters of an ended job; those of an open job are in its shards. A job without the first two is damaged. */
export const rowCountersSchema = z.object({
  ...byName(
    rowCounters.map(([name]) => name),
    () => z.int().default(0),
  ),
  succeeded_rows: z.int(),
  failed_rows: z.int(),
});

/** The counters of jobs in responses. */
export function rowCounterFields() {
  const fields = rowCounters.map(([name, description]) => [name, count.describe(description)]);
  return Object.fromEntries(fields) as Record<RowCounterName, typeof count>;
}

/** Counters that are all 0. */
export function noRows(): Record<CounterName, number> {
  return byName(counterNames, () => 0);
}

/** The sums of counters. */
export function sumOf(counters: readonly Counters[]): Counters {
  const fields: Record<string, number> = {};
  for (const { changed_fields: changed } of counters) {
    for (const [field, rows] of Object.entries(changed)) fields[field] = (fields[field] ?? 0) + rows;
  }
  return {
    ...byName(counterNames, (name) => counters.reduce((sum, shard) => sum + shard[name], 0)),
    changed_fields: fields,
  };
}

/** Counters as jobs store and show them: `succeeded_rows` and so on. */
export function toRowCounters(counters: Counters): Readonly<Record<RowCounterName, number>> {
  const named = counterNames.map((name) => [COUNTERS[name][0], counters[name]]);
  return Object.fromEntries(named) as Record<RowCounterName, number>;
}
