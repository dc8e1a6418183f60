import { comparable, numberedNames } from "../../../../lib/uploads/csv/header-names.ts";
import { aliasesOf } from "../../../../lib/uploads/mapping/known-statuses.ts";
import type { Source } from "../../../../lib/uploads/mapping/mapping.ts";
import { formatsOf, timeOptionsOf } from "../../../../lib/uploads/mapping/time-formats.ts";
import type { TableFile } from "./table-file.ts";

/** Zone of times without offset, unless a person chooses another. */
export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The different cells of a column in the first rows, in their order, without the empty ones. */
export function valuesIn(
  { names, rows }: Pick<TableFile, "names" | "rows">,
  column: string,
  empty: readonly string[],
): string[] {
  return valuesAt(
    rows,
    numberedNames(names).findIndex((name) => comparable(name) === comparable(column)),
    empty,
  );
}

/** The different cells of the column in a place. */
export function valuesAt(rows: TableFile["rows"], index: number, empty: readonly string[]): string[] {
  const nothing = new Set(["", ...empty.map(comparable)]);
  const cells = rows.map((row) => (row[index] ?? "").trim());
  return [...new Set(cells)].filter((cell) => !nothing.has(comparable(cell)));
}

/** The source of a date-time, with the format that its values have. */
function timeSource(column: string, values: readonly string[], timeZone: string): Source {
  const [format = "iso"] = formatsOf(values, timeZone);
  return { column, ...timeOptionsOf(values, format, timeZone) };
}

/** The source of a status, with aliases of the values that other systems are known to use. */
function statusSource(column: string, values: readonly string[]): Source {
  return { column, ...aliasesOf(values) };
}

/** How a column is read that becomes a target. */
export function sourceFor(target: string, column: string, values: readonly string[]): Source {
  if (target === "status") return statusSource(column, values);
  return target === "completed_at" || target === "occurred_at" ? timeSource(column, values, TIME_ZONE) : { column };
}
