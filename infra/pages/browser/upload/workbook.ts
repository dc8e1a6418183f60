import readWorkbook from "read-excel-file/browser";
import { toCell } from "../../../../lib/uploads/csv/csv-row.ts";
import { COMMA } from "../../../../lib/uploads/csv/delimiter.ts";

/** A sheet of a workbook. */
export interface Sheet {
  readonly name: string;
  /** Its rows as CSV with commas. */
  readonly csv: string;
}

/** A cell as text. Workbooks keep date-times without time zone: they are written as the workbook shows them. */
const textOf = (cell: unknown): string => {
  if (cell === null || cell === undefined) return "";
  if (cell instanceof Date)
    return cell
      .toISOString()
      .replace("T", " ")
      .replace(/(:\d\d)\.\d+Z$/, "$1");
  return typeof cell === "string" ? cell : JSON.stringify(cell);
};

/** Reads the sheets of an .xlsx workbook that have rows. @throws Error if it is none, or is protected */
export const readSheets = async (file: File): Promise<Sheet[]> => {
  const sheets = (await readWorkbook(file)) as { readonly sheet: string; readonly data: readonly unknown[][] }[];
  return sheets
    .filter(({ data }) => data.length > 0)
    .map(({ sheet, data }) => ({
      name: sheet,
      csv: data.map((row) => `${row.map((cell) => toCell(textOf(cell), COMMA)).join(COMMA)}\n`).join(""),
    }));
};
