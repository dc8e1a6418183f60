import { strToU8, zipSync } from "fflate";

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** A cell of a workbook: a Date is shown as date and time, one before 1900 as a time of day; a formula has its result. */
export type Cell =
  | string
  | number
  | boolean
  | Date
  | null
  | { readonly formula: string; readonly result: string; readonly kind: "str" | "n" | "e" }
  /** A cell as it is in the file. */
  | { readonly xml: string };

const DAY_MS = 86_400_000;
/** Day 0 of workbooks. */
const DAY_ZERO_MS = Date.UTC(1899, 11, 30);
/** The style of date-times in `STYLES`. */
const DATE_STYLE = 1;
const STYLES = `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts><numFmt numFmtId="164" formatCode="0 &quot;days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="22"/></cellStyleXfs><cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="22" applyNumberFormat="1"/><xf numFmtId="46"/><xf numFmtId="164"/></cellXfs></styleSheet>`;

const cellOf = (place: string, cell: Cell): string => {
  if (cell === null) return "";
  if (typeof cell === "string") {
    return `<c r="${place}" t="inlineStr"><is><t xml:space="preserve">${escaped(cell)}</t></is></c>`;
  }
  if (typeof cell === "boolean") return `<c r="${place}" t="b"><v>${cell ? 1 : 0}</v></c>`;
  if (typeof cell === "number") return `<c r="${place}"><v>${cell}</v></c>`;
  if (cell instanceof Date) {
    return `<c r="${place}" s="${DATE_STYLE}"><v>${(cell.getTime() - DAY_ZERO_MS) / DAY_MS}</v></c>`;
  }
  if ("xml" in cell) return cell.xml;
  const { formula, result, kind } = cell;
  return `<c r="${place}" t="${kind}"><f>${escaped(formula)}</f><v>${escaped(result)}</v></c>`;
};

const sheetOf = (
  rows: readonly (readonly Cell[])[],
  { merged = [], hidden = [] }: Pick<Oddities, "merged" | "hidden">,
): string => {
  const cells = rows.map((row, at) => {
    const inner = row.map((cell, column) => cellOf(`${String.fromCodePoint(65 + column)}${at + 1}`, cell));
    return `<row r="${at + 1}"${hidden.includes(at + 1) ? ' hidden="1"' : ""}>${inner.join("")}</row>`;
  });
  const ranges =
    merged.length === 0 ? "" : `<mergeCells>${merged.map((ref) => `<mergeCell ref="${ref}"/>`).join("")}</mergeCells>`;
  return `${XML}<worksheet xmlns="${MAIN}"><sheetData>${cells.join("")}</sheetData>${ranges}</worksheet>`;
};

/** What can be odd about a workbook. */
interface Oddities {
  /** The state of sheets that are not visible. */
  readonly states?: Readonly<Record<string, "hidden" | "veryHidden">>;
  /** XML before the list of sheets. */
  readonly properties?: string;
  /** Parts in place of those that are made, by name. */
  readonly parts?: Readonly<Record<string, string>>;
  /** Ranges of merged cells, such as `A2:A4`, in all sheets. */
  readonly merged?: readonly string[];
  /** Numbers of hidden rows, in all sheets. */
  readonly hidden?: readonly number[];
}

/** A workbook (.xlsx). @param sheets rows of at most 26 cells by the names of the sheets */
export const makeWorkbook = (
  sheets: Readonly<Record<string, readonly (readonly Cell[])[]>>,
  { states = {}, properties = "", parts = {}, ...rows }: Oddities = {},
): Buffer => {
  const names = Object.keys(sheets);
  const each = (make: (number: number, name: string) => string): string =>
    names.map((name, index) => make(index + 1, name)).join("");
  const files = {
    "[Content_Types].xml":
      `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
      `<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>` +
      `<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/>` +
      each(
        (number) =>
          `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>`,
      ) +
      "</Types>",
    "_rels/.rels": `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    "xl/workbook.xml": `${XML}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}">${properties}<sheets>${each((number, name) => `<sheet name="${escaped(name)}" sheetId="${number}" state="${states[name] ?? "visible"}" r:id="rId${number}"/>`)}</sheets></workbook>`,
    "xl/styles.xml": XML + STYLES,
    "xl/_rels/workbook.xml.rels": `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="styles" Type="${RELATIONS}/styles" Target="styles.xml"/>${each((number) => `<Relationship Id="rId${number}" Type="${RELATIONS}/worksheet" Target="worksheets/sheet${number}.xml"/>`)}</Relationships>`,
    ...Object.fromEntries(
      names.map((name, index) => [`xl/worksheets/sheet${index + 1}.xml`, sheetOf(sheets[name]!, rows)]),
    ),
    ...parts,
  };
  const bytes = Object.entries(files).map(([name, text]) => [name, strToU8(text)] as const);
  return Buffer.from(zipSync(Object.fromEntries(bytes)));
};
