import type { RowReader } from "@work-items/lib/uploads/csv/row-reader.ts";
import { isUnfinished, planApply } from "@work-items/lib/work-items/plan-apply.ts";
import type { WorkItem, WorkItemInput } from "@work-items/lib/work-items/work-item.ts";
import type { WorkItemStatus } from "@work-items/lib/work-items/work-item-fields.ts";
import type { RowObserver } from "../files/whole-file.ts";
import type { FileRow } from "../ids/repeated-ids.ts";

/** Limit of the different values that are counted one by one. A value has at most 1,024 characters. */
export const VALUES_MAX = 10_000;
/** Limit of the values that are named. */
const NAMED_VALUES = 10;

/** A value with its number of rows. */
export type CountedValue = readonly [value: string, rows: number];

/** What the rows of a file have in a field. */
export interface FieldValues {
  /** The most frequent values, most first. */
  readonly values: readonly CountedValue[];
  /** Number of rows with other values. */
  readonly otherRows: number;
  /** Number of different values; undefined if there are too many to count. */
  readonly different: number | undefined;
  /** Number of rows in which the file has no value. A default may be among the values instead. */
  readonly emptyRows: number;
}

/** What all rows of a file would be as new items. Rows that can't be imported are only counted. */
export interface ResultingFindings {
  /** Number of rows that can be imported. */
  readonly rows: number;
  readonly failedRows: number;
  readonly status: FieldValues;
  readonly type: FieldValues;
  /** Agents by their names, or else their email addresses or IDs. */
  readonly agent: FieldValues;
  readonly completion: {
    readonly emptyRows: number;
    /** In UTC; undefined if no row has one. */
    readonly earliest: string | undefined;
    readonly latest: string | undefined;
    /** Number of rows with a later time than now. */
    readonly futureRows: number;
  };
  /** Number of rows that are completed without a completion date. */
  readonly undatedRows: number;
  /** Numbers of rows with a completion date that aren't completed, by status. */
  readonly unfinishedRows: readonly CountedValue[];
}

class ValueCounts {
  readonly #counts = new Map<string, number>();
  #emptyRows = 0;
  #uncounted = 0;

  /** @param isGiven whether the file has the value, not only a default */
  add(value: string | null, isGiven: boolean): void {
    if (!isGiven) this.#emptyRows++;
    if (value === null) return;
    const known = this.#counts.get(value);
    if (known === undefined && this.#counts.size === VALUES_MAX) this.#uncounted++;
    else this.#counts.set(value, (known ?? 0) + 1);
  }

  get all(): CountedValue[] {
    return [...this.#counts];
  }

  get findings(): FieldValues {
    const sorted = this.all.toSorted(([, a], [, b]) => b - a);
    return {
      values: sorted.slice(0, NAMED_VALUES),
      otherRows: sorted.slice(NAMED_VALUES).reduce((sum, [, rows]) => sum + rows, this.#uncounted),
      different: this.#uncounted > 0 ? undefined : sorted.length,
      emptyRows: this.#emptyRows,
    };
  }
}

/** A row as a new item, with its input; undefined if it can't be imported. @param now ISO 8601 in UTC */
export function newItemOf(
  reader: RowReader,
  cells: readonly string[],
  now: string,
): { readonly input: WorkItemInput; readonly item: WorkItem } | undefined {
  const reading = reader.read(cells);
  if ("error" in reading) return undefined;
  const { input } = reading;
  // Custom attributes have no defaults. Without them, planning is faster.
  const plan = planApply(null, input.external_id, { ...input, custom_attributes: undefined }, now);
  return plan.outcome === "error" ? undefined : { input, item: plan.next };
}

/** An item's agent in a word; null if it has none. */
function agentIn({ agent_name: name, agent_email: email, agent_external_id: id }: WorkItem): string | null {
  return name ?? email ?? id;
}

const COMPLETED: WorkItemStatus = "completed";

/** Counts what the rows of a file become, in memory that doesn't grow with the file. */
export class ResultingValues implements RowObserver {
  readonly #reader: RowReader;
  readonly #now: string;
  readonly #status = new ValueCounts();
  readonly #type = new ValueCounts();
  readonly #agent = new ValueCounts();
  readonly #unfinished = new ValueCounts();
  #rows = 0;
  #failedRows = 0;
  #undatedRows = 0;
  #withoutDate = 0;
  #futureRows = 0;
  #earliest: string | undefined;
  #latest: string | undefined;

  /** @param now ISO 8601 in UTC */
  constructor(reader: RowReader, now: string) {
    this.#reader = reader;
    this.#now = now;
  }

  observe({ cells }: Pick<FileRow, "cells">): void {
    if (this.#reader.isEmpty(cells)) return;
    const result = newItemOf(this.#reader, cells, this.#now);
    if (result === undefined) {
      this.#failedRows++;
      return;
    }
    const { input, item } = result;
    this.#rows++;
    this.#status.add(item.status, input.status !== undefined);
    this.#type.add(item.type, input.type !== undefined);
    const agent = agentIn(item);
    this.#agent.add(agent, agent !== null);
    this.#addCompletion(item);
  }

  #addCompletion(item: WorkItem): void {
    const { status, completed_at: time } = item;
    if (time === null) {
      this.#withoutDate++;
      if (status === COMPLETED) this.#undatedRows++;
      return;
    }
    if (isUnfinished(item)) this.#unfinished.add(status, true);
    if (this.#earliest === undefined || time < this.#earliest) this.#earliest = time;
    if (this.#latest === undefined || time > this.#latest) this.#latest = time;
    if (Date.parse(time) > Date.parse(this.#now)) this.#futureRows++;
  }

  get findings(): ResultingFindings {
    return {
      rows: this.#rows,
      failedRows: this.#failedRows,
      status: this.#status.findings,
      type: this.#type.findings,
      agent: this.#agent.findings,
      completion: {
        emptyRows: this.#withoutDate,
        earliest: this.#earliest,
        latest: this.#latest,
        futureRows: this.#futureRows,
      },
      undatedRows: this.#undatedRows,
      unfinishedRows: this.#unfinished.all,
    };
  }
}
