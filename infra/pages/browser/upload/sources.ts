import { comparable } from "../../../../lib/uploads/csv/header-names.ts";
import type { Source } from "../../../../lib/uploads/mapping/mapping.ts";
import { aliasesOf, countRead, formatOf, TIME_FORMATS } from "../../../../lib/uploads/mapping/propose-mapping.ts";
import type { TableFile } from "./table-file.ts";

/** The different cells of a column in the first rows, in their order, without the empty ones. */
export const valuesIn = (
  { names, rows }: Pick<TableFile, "names" | "rows">,
  column: string,
  empty: readonly string[],
): string[] => {
  const index = names.findIndex((name) => comparable(name) === comparable(column));
  const nothing = new Set(["", ...empty.map(comparable)]);
  const cells = rows.map((row) => (row[index] ?? "").trim());
  return [...new Set(cells)].filter((cell) => !nothing.has(comparable(cell)));
};

/** Of the usual formats of date-times those that read the most values; none if no value can be read. */
export const formatsOf = (values: readonly string[], timeZone: string): string[] => {
  const counts = TIME_FORMATS.map((format) => countRead(values, format, timeZone));
  const most = Math.max(...counts);
  return most === 0 ? [] : TIME_FORMATS.filter((_, index) => counts[index] === most);
};

/** The source of a date-time, with the format that its values have. */
export const timeSource = (column: string, values: readonly string[], timeZone: string): Source => ({
  column,
  ...(formatOf(values, timeZone) ?? { time_zone: timeZone }),
});

/** The source of a status, with aliases of the values that other systems are known to use. */
export const statusSource = (column: string, values: readonly string[]): Source => ({ column, ...aliasesOf(values) });
