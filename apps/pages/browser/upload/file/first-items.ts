import { newItemOf } from "@work-items/importer/checks/resulting-values.ts";
import { InvalidFileError } from "@work-items/lib/uploads/csv/invalid-file-error.ts";
import { problemsOfMapping } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import { mappedReader } from "@work-items/lib/uploads/mapping/mapped-columns.ts";
import type { Mapping, Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { exampleOf, readRows } from "./check-rows.ts";
import { withReplacement } from "./sources.ts";
import type { TableFile } from "./table-file.ts";

/** How many rows are shown. */
const SHOWN_ROWS = 3;
/** How many values of a row are left out because they can't be read. */
const UNREAD_MAX = 8;
/** Stands for the ID while none is chosen. */
const NO_ID: Source = { value: "no ID yet" };

/** The item that a row would become. What can't be read of it is left out and described. */
function itemOf(names: readonly string[], mapping: Mapping, cells: readonly string[], now: string) {
  const problems: string[] = [];
  let last = "";
  for (let readable = mapping; problems.length < UNREAD_MAX;) {
    const reader = mappedReader(readable, names);
    const reading = reader.read(cells);
    if (!("error" in reading)) return { problems, made: newItemOf(reader, cells, now) };
    const { column, value, message } = reading.error;
    // Without the value it is the same: the row can't be read.
    if (message === last) break;
    last = message;
    problems.push(`${value === "" ? `“${column}”: ` : ""}${exampleOf(reading.error)}`);
    readable = withReplacement(readable, column, value, "") ?? readable;
  }
  return { problems, made: undefined };
}

/** The first rows of a file as the items that they would become; none if the mapping can't be used. */
export function firstItems(table: TableFile, mapping: Mapping) {
  const withId = { ...mapping, fields: { external_id: NO_ID, ...mapping.fields } };
  if (problemsOfMapping(withId).length > 0) return [];
  const now = new Date().toISOString();
  try {
    return readRows(table, withId)
      .slice(0, SHOWN_ROWS)
      .map((cells) => itemOf(table.names, withId, cells, now));
  } catch (error) {
    if (!(error instanceof InvalidFileError)) throw error;
    return [];
  }
}
