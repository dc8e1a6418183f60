import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { type NumberedRow, totalsIn } from "@work-items/importer/proposals/survey.ts";
import { rolesOf } from "./column-roles.ts";
import type { TableFile } from "./table-file.ts";

/** The rows of a file that look like sums. */
export function totalsOf({ survey, names }: TableFile, mapping: Mapping): readonly NumberedRow[] {
  const id = rolesOf(names, mapping).find(({ role }) => role === "external_id");
  return survey ? totalsIn(survey, id?.index) : [];
}

/** The file without some rows, which become blank lines: all others keep their numbers. */
export function withoutRows(table: TableFile, rows: ReadonlySet<number>): TableFile {
  const first = table.headerRow + 1;
  return { ...table, rows: table.rows.map((cells, index) => (rows.has(first + index) ? [""] : cells)) };
}
