import type { ResultRow } from "work-items-client/client.ts";
import { isJsonObject } from "@work-items/lib/json.ts";
import type { UndoOutcome } from "@work-items/lib/work-items/undo/plan-undo.ts";
import { jsonIn, readFirstResults } from "./first-results.ts";
import type { CountedValue } from "./resulting-values.ts";
import { changesIn, type FieldChange } from "./trial-rows.ts";

/** How many rows of each outcome are examples. */
const EXAMPLES_MAX = 5;
/** Limit of the rows whose kept values are remembered. */
const KEPT_ROWS = 100;

/** What an undo keeps of a row. */
interface Kept {
  readonly reason: string;
  /**
   * By field: `status`, `custom_attributes.<name>` or `events.<external_id>.<name>`. A completion date has no imported value if the
   * row only set the status, and the item's status if it isn't completed.
   */
  readonly fields: Readonly<
    Record<string, { readonly imported?: unknown; readonly now: unknown; readonly status?: string }>
  >;
}

/** A row of an undo's results. What it dropped is kept too. */
export interface UndoneRow {
  readonly row: number;
  readonly externalId: string;
  /** Empty if the row failed. */
  readonly id: string;
  readonly outcome: Exclude<UndoOutcome, "dropped"> | "error";
  /** Undefined if nothing stays. */
  readonly kept: Kept | undefined;
  /** Of a trial: what would go back in an item that stays. */
  readonly changes: readonly FieldChange[];
}

/** What an undo does to its rows, or would do. */
export interface UndoRows {
  /** The first rows of each outcome. */
  readonly examples: ReadonlyMap<UndoneRow["outcome"], readonly UndoneRow[]>;
  /** The first rows of which something stays. */
  readonly kept: readonly (UndoneRow & { readonly kept: Kept })[];
  /** Why something stays, with numbers of rows, by outcome. */
  readonly reasons: ReadonlyMap<UndoneRow["outcome"], ReadonlyMap<string, number>>;
  /** Numbers of rows whose items have a completion date and aren't completed, by status. */
  readonly unfinishedRows: readonly CountedValue[];
  /** Whether all results were read. */
  readonly isWhole: boolean;
}

function keptIn({ kept: cell }: ResultRow): Kept | undefined {
  const kept = jsonIn(cell);
  if (!isJsonObject(kept) || typeof kept["reason"] !== "string") return undefined;
  return { reason: kept["reason"], fields: (kept["fields"] ?? {}) as unknown as Kept["fields"] };
}

/** Reads the results of an undo or of its trial. */
export async function readUndoRows(results: AsyncIterable<ResultRow>): Promise<UndoRows> {
  const examples = new Map<UndoneRow["outcome"], UndoneRow[]>();
  const stays: (UndoneRow & { readonly kept: Kept })[] = [];
  const reasons = new Map<UndoneRow["outcome"], Map<string, number>>();
  const unfinished = new Map<string, number>();
  const isWhole = await readFirstResults(results, (result) => {
    const { row, external_id: externalId, id, outcome } = result;
    const kept = keptIn(result);
    const shown = (outcome === "dropped" ? "kept" : outcome) as UndoneRow["outcome"];
    const undone = { row, externalId, id, outcome: shown, kept, changes: changesIn(result) };
    if (kept) {
      const ofOutcome = reasons.get(shown) ?? new Map<string, number>();
      reasons.set(shown, ofOutcome.set(kept.reason, (ofOutcome.get(kept.reason) ?? 0) + 1));
      const { status } = kept.fields["completed_at"] ?? {};
      if (status !== undefined) unfinished.set(status, (unfinished.get(status) ?? 0) + 1);
      if (stays.length < KEPT_ROWS) stays.push({ ...undone, kept });
    }
    const known = examples.get(shown) ?? [];
    if (known.length < EXAMPLES_MAX) examples.set(shown, [...known, undone]);
  });
  return { examples, kept: stays, reasons, unfinishedRows: [...unfinished], isWhole };
}
