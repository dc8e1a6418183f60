import { mappedReader } from "../../../lib/uploads/mapping/mapped-columns.ts";
import type { Mapping } from "../../../lib/uploads/mapping/mapping.ts";

/**
 * Makes the observer that counts rows that are completed without a completion date.
 * @param mapping a valid mapping that fits the header
 */
export function createUndatedCount({ fields = {}, empty, decimal }: Mapping, names: readonly string[]) {
  const { status, completed_at: completedAt } = fields;
  if (status === undefined) return { observe: () => undefined, rows: () => 0 };
  const own = {
    fields: { external_id: { value: "any" }, status, ...(completedAt && { completed_at: completedAt }) },
    others: "ignore",
  } as const;
  const reader = mappedReader({ ...own, ...(empty && { empty }), ...(decimal && { decimal }) }, names);
  let rows = 0;
  return {
    observe: ({ cells }: { readonly cells: readonly string[] }): void => {
      if (reader.isEmpty(cells)) return;
      const reading = reader.read(cells);
      if ("input" in reading && reading.input.status === "completed" && !reading.input.completed_at) rows++;
    },
    rows: () => rows,
  };
}
