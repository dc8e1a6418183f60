import { useEffect, useState } from "preact/hooks";
import { problemsOfMapping } from "../../../../lib/uploads/mapping/check-mapping.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { createUndatedCount } from "@work-items/importer/proposals/undated.ts";
import { countOf } from "./shown.ts";
import { observeTable, type TableFile } from "./table-file.ts";

/** Of larger files only the first rows are counted: each change of the mapping would read them again. */
const COUNTED_MAX_BYTES = 64 * 1024 * 1024;

async function countUndated(table: TableFile, mapping: Mapping, signal: AbortSignal): Promise<number> {
  const count = createUndatedCount(mapping, table.names);
  if (table.size > COUNTED_MAX_BYTES) table.rows.forEach((cells) => count.observe({ cells }));
  else await observeTable(table, () => [count], { signal });
  return count.rows();
}

/** Says how many rows are completed and have no date of it. */
export function UndatedNote({ table, mapping }: { readonly table: TableFile; readonly mapping: Mapping }) {
  const [rows, setRows] = useState(0);
  const { status, completed_at: completedAt } = mapping.fields ?? {};
  useEffect(() => {
    setRows(0);
    const controller = new AbortController();
    if (problemsOfMapping(mapping).length > 0) return undefined;
    countUndated(table, mapping, controller.signal).then(
      (count) => controller.signal.aborted || setRows(count),
      // A mapping that doesn't fit the file is named elsewhere.
      () => undefined,
    );
    return () => controller.abort();
  }, [table.text, table.workbook, table.headerRow, JSON.stringify([status, completedAt, mapping.empty])]);
  if (rows === 0) return null;
  const where = table.size > COUNTED_MAX_BYTES ? ` of the first ${table.rows.length}` : "";
  return (
    <p class="unchecked">
      Please check: {countOf(rows, "row")}
      {where} {rows === 1 ? "is" : "are"} completed, but {rows === 1 ? "has" : "have"} no completion date.
    </p>
  );
}
