import { unzipSync } from "fflate";
import { toCell } from "@work-items/lib/uploads/csv/csv-text.ts";
import { COMMA } from "@work-items/lib/uploads/csv/delimiter.ts";
import { isReportHeader, withoutPrefix } from "./cell-values.ts";
import { type CellPosition, type MergedRange, mergedRangeOf, positionOf, withMergedValues } from "./merged-cells.ts";
import {
  type DateSystem,
  hidesDigits,
  kindOfFormat,
  type NumberKind,
  shownIds,
  textOfIso,
  textOfNumber,
} from "./workbook-values.ts";
import { readXml } from "./xml.ts";

export interface Sheet {
  readonly name: string;
  /** Whether the workbook hides it. */
  readonly isHidden: boolean;
  /** Its rows as CSV with commas. */
  readonly csv: string;
  /** Cells that have no value here: formulas without a stored result, those whose result is an error, and damaged cells. */
  readonly lost: Readonly<Record<"formulas" | "errors" | "damaged", LostCells>>;
  /** Numbers with zeros or a text that only their number format has: here they are as it shows them. */
  readonly formatted: FormattedCells;
  /** The indexes of columns with whole numbers of which it doesn't show all digits. */
  readonly cut: readonly number[];
  /** Merged cells with a text. */
  readonly merged: readonly MergedRange[];
  /** Numbers of the rows with texts that it hides. */
  readonly hiddenRows: readonly number[];
  /** Numbers of the columns with texts that it hides. */
  readonly hiddenColumns: readonly number[];
}

/** Cells whose value can't be read. */
export interface LostCells {
  readonly count: number;
  readonly first: CellPosition | undefined;
}

/** Cells that show more than their value. */
export interface FormattedCells extends LostCells {
  /** The value of the first of them, and what it shows. */
  readonly value: string;
  readonly shown: string;
}

/** A workbook can't be read. The message says what to do. */
export class WorkbookError extends Error {
  override readonly name: string = "WorkbookError";
}

/** Limit of an unpacked part of a workbook: about as long as a text can be. */
const PART_MAX_BYTES = 500_000_000;
/** Limit of a sheet's cells, including empty ones within its width. */
const CELLS_MAX = 100_000_000;
/** Limits of spreadsheets. */
const ROWS_MAX = 1_048_576;
const COLUMNS_MAX = 16_384;
const DAMAGED = "This workbook cannot be read. Save it as .xlsx or CSV.";
const TOO_LARGE = "This workbook is too large. Save the sheet as CSV.";

type Parts = Readonly<Record<string, Uint8Array>>;

/** The XML parts of a workbook by their names in lower case. */
function unpack(archive: Uint8Array): Parts {
  const parts = unzipSync(archive, {
    filter: ({ name, originalSize }) => {
      if (!/\.(?:xml|rels)$/i.test(name)) return false;
      if (originalSize > PART_MAX_BYTES) throw new WorkbookError(TOO_LARGE);
      return true;
    },
  });
  const nameOf = (name: string): string => name.replaceAll("\\", "/").replace(/^\//, "").toLowerCase();
  return Object.fromEntries(Object.entries(parts).map(([name, bytes]) => [nameOf(name), bytes]));
}

function textOfPart(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff || bytes[0] === 0xfe;
  if (!isUtf16) return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  return new TextDecoder(bytes[0] === 0xff ? "utf-16le" : "utf-16be", { fatal: true }).decode(bytes);
}

/** Whether an attribute says yes. */
function isTrue(attribute: string | undefined): boolean {
  return /^(?:1|true|on)$/.test(attribute ?? "");
}

type Visit = (name: string, attribute: (name: string) => string | undefined) => void;

/** Visits the elements of a part, if there is one. */
function visit(part: Uint8Array | undefined, open: Visit): void {
  if (part) readXml(textOfPart(part), { open, text: () => undefined, close: () => undefined });
}

interface Relation {
  readonly type: string;
  readonly part: string;
}

/** What a part refers to, by id. Only the last word of a type is the same in both versions of the standard. */
function relationsOf(parts: Parts, part: string): ReadonlyMap<string, Relation> {
  const folder = part.slice(0, part.lastIndexOf("/") + 1);
  const relations = new Map<string, Relation>();
  visit(parts[`${folder}_rels/${part.slice(folder.length)}.rels`], (name, attribute) => {
    if (name !== "Relationship") return;
    const target = new URL(attribute("Target") ?? "", `file:///${folder}`).pathname.slice(1);
    const type = attribute("Type")?.split("/").at(-1) ?? "";
    relations.set(attribute("Id") ?? "", { type, part: decodeURIComponent(target).toLowerCase() });
  });
  return relations;
}

/** A text of a workbook, in which control characters are written as `_x000D_`. */
function unescaped(text: string): string {
  if (!text.includes("_x")) return text;
  return text.replaceAll(/_x([\da-f]{4})_/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** The texts that cells refer to, without the phonetic readings of ideographs. */
function readSharedTexts(part: Uint8Array | undefined): string[] {
  const texts: string[] = [];
  if (!part) return texts;
  let text = "";
  let isText = false;
  let isReading = false;
  readXml(textOfPart(part), {
    open: (name) => {
      if (name === "si") text = "";
      else if (name === "rPh") isReading = true;
      else if (name === "t") isText = !isReading;
    },
    text: (characters) => {
      if (isText) text += characters;
    },
    close: (name) => {
      if (name === "si") texts.push(unescaped(text));
      else if (name === "rPh") isReading = false;
      else if (name === "t") isText = false;
    },
  });
  return texts;
}

/** How a cell style shows numbers. */
interface NumberStyle {
  readonly kind: NumberKind;
  /** What it shows of a whole number, if that is an ID. */
  readonly shown: ReturnType<typeof shownIds>;
  readonly hidesDigits: boolean;
}
const PLAIN: NumberStyle = { kind: "number", shown: undefined, hidesDigits: false };

/** How each cell style shows numbers. */
function readStyles(part: Uint8Array | undefined): NumberStyle[] {
  const codes = new Map<number, string>();
  const styles: NumberStyle[] = [];
  let isCellStyle = false;
  visit(part, (name, attribute) => {
    if (name === "numFmt") codes.set(Number(attribute("numFmtId")), attribute("formatCode") ?? "");
    else if (name === "cellXfs" || name === "cellStyleXfs" || name === "dxfs") isCellStyle = name === "cellXfs";
    else if (name === "xf" && isCellStyle) {
      const id = Number(attribute("numFmtId") ?? 0);
      const code = codes.get(id);
      styles.push({ kind: kindOfFormat(id, code), shown: shownIds(code), hidesDigits: hidesDigits(id, code) });
    }
  });
  return styles;
}

/** What the cells of all sheets refer to. */
interface Book {
  readonly texts: readonly string[];
  readonly styles: readonly NumberStyle[];
  readonly dates: DateSystem;
}

/** A cell as it is written. */
interface RawCell {
  readonly type: string;
  readonly style: string | undefined;
  /** Its value, or the text in it. */
  value: string | undefined;
  hasFormula: boolean;
}

/** What a cell shows; undefined if it is damaged. Results of formulas that are errors, such as #N/A, are empty. */
function textOf({ type, style, value = "" }: RawCell, { texts, styles, dates }: Book): string | undefined {
  if (type === "inlineStr" || type === "str") return unescaped(value);
  const text = value.trim();
  if (text === "") return "";
  switch (type) {
    case "s":
      return /^\d+$/.test(text) ? texts[Number(text)] : undefined;
    case "b":
      return { "0": "false", "1": "true", false: "false", true: "true" }[text.toLowerCase()];
    case "e":
      return "";
    case "d":
      return textOfIso(value);
    case "n":
      return textOfNumber(value, (styles[Number(style ?? 0)] ?? PLAIN).kind, dates);
    default:
      return undefined;
  }
}

/** The rows of a sheet, without the empty cells at their ends and without the empty rows at the end. */
function readRows(xml: string, book: Book) {
  const rows: string[][] = [];
  const none: LostCells = { count: 0, first: undefined };
  const lost = { formulas: none, errors: none, damaged: none };
  let formatted: FormattedCells = { ...none, value: "", shown: "" };
  const hiddenRanges: { readonly first: number; readonly last: number }[] = [];
  const cut = new Set<number>();
  const merged: MergedRange[] = [];
  const hidden: number[] = [];
  let read = 0;
  let row = 0;
  let column = 0;
  let cell: RawCell | undefined;
  let isValue = false;
  let isReading = false;
  const lose = (kind: keyof typeof lost): void => {
    const { count, first } = lost[kind];
    lost[kind] = { count: count + 1, first: first ?? { row, column } };
  };
  const finish = ({ hasFormula, ...raw }: RawCell): void => {
    const hasNoResult = hasFormula && (raw.value ?? "") === "" && raw.type !== "str";
    const text = hasNoResult ? undefined : textOf({ hasFormula, ...raw }, book);
    if (text === undefined) {
      lose(hasNoResult ? "formulas" : "damaged");
      return;
    }
    if (raw.type === "e") lose("errors");
    read++;
    if (text === "") return;
    if (row > ROWS_MAX || column > COLUMNS_MAX) throw new WorkbookError(TOO_LARGE);
    const style = (raw.type === "n" && book.styles[Number(raw.style ?? 0)]) || PLAIN;
    const isWhole = /^\d{1,15}$/.test(text);
    if (style.hidesDigits && isWhole) cut.add(column - 1);
    const id = style.shown && isWhole ? style.shown(Number(text)) : text;
    if (id !== text) {
      const { count, first } = formatted;
      formatted = first
        ? { ...formatted, count: count + 1 }
        : { count: 1, first: { row, column }, value: text, shown: id };
    }
    while (rows.length < row) rows.push([]);
    const cells = rows[row - 1]!;
    while (cells.length < column) cells.push("");
    cells[column - 1] = id;
  };
  readXml(xml, {
    open: (name, attribute) => {
      if (name === "row") {
        row = Number(attribute("r") ?? row + 1);
        column = 0;
        if (isTrue(attribute("hidden"))) hidden.push(row);
      } else if (name === "c") {
        const position = positionOf(attribute("r") ?? "");
        row = position?.row ?? Math.max(1, row);
        column = position?.column ?? column + 1;
        cell = { type: attribute("t") ?? "n", style: attribute("s"), value: undefined, hasFormula: false };
      } else if (name === "col" && isTrue(attribute("hidden"))) {
        hiddenRanges.push({ first: Number(attribute("min")), last: Number(attribute("max")) });
      } else if (name === "mergeCell") {
        const range = mergedRangeOf(attribute("ref") ?? "");
        if (range) merged.push(range);
      } else if (cell && name === "f") cell.hasFormula = true;
      else if (name === "rPh") isReading = true;
      else if (cell && !isReading && (name === "v" || name === "t")) {
        isValue = true;
        cell.value ??= "";
      }
    },
    text: (characters) => {
      if (cell && isValue) cell.value += characters;
    },
    close: (name) => {
      if (name === "v" || name === "t") isValue = false;
      else if (name === "rPh") isReading = false;
      else if (name === "c" && cell) {
        finish(cell);
        cell = undefined;
      }
    },
  });
  // If most cells can't be read, the others may be wrong.
  if (lost.damaged.count > read) throw new WorkbookError(DAMAGED);
  const hiddenRows = hidden.filter((each) => (rows[each - 1]?.length ?? 0) > 0);
  const width = rows.reduce((most, cells) => Math.max(most, cells.length), 0);
  const hiddenColumns = hiddenRanges
    .flatMap(({ first, last }) =>
      Array.from({ length: Math.max(0, Math.min(last, width) - first + 1) }, (_, at) => first + at),
    )
    .filter((each) => rows.some((cells) => (cells[each - 1] ?? "") !== ""));
  return { lost, formatted, cut: [...cut], hiddenRows, hiddenColumns, ...withMergedValues(rows, merged) };
}

/** Rows as CSV, all as wide as the longest. */
function csvOf(rows: readonly (readonly string[])[]): string {
  const width = rows.reduce((most, cells) => Math.max(most, cells.length), 1);
  if (width * rows.length > CELLS_MAX) throw new WorkbookError(TOO_LARGE);
  const isReport = isReportHeader(rows.find((cells) => cells.length > 0) ?? []);
  const cellOf = (text: string): string => toCell(isReport ? text : withoutPrefix(text), COMMA);
  const lineOf = (cells: readonly string[]): string =>
    `${cells.map(cellOf).join(COMMA)}${COMMA.repeat(width - Math.max(1, cells.length))}\n`;
  return rows.map(lineOf).join("");
}

function readParts(parts: Parts): Sheet[] {
  const root = [...relationsOf(parts, "").values()].find(({ type }) => type === "officeDocument");
  const main = root?.part ?? "xl/workbook.xml";
  if (!parts[main]) throw new Error(`no part ${main}`);
  const relations = relationsOf(parts, main);
  const partOf = (kind: string): Uint8Array | undefined =>
    parts[[...relations.values()].find(({ type }) => type === kind)?.part ?? ""];
  const found: { readonly name: string; readonly isHidden: boolean; readonly part: string }[] = [];
  let dates: DateSystem = 1900;
  visit(parts[main], (name, attribute) => {
    if (name === "workbookPr" && isTrue(attribute("date1904"))) dates = 1904;
    if (name !== "sheet") return;
    const { type, part = "" } = relations.get(attribute("id") ?? "") ?? {};
    // Others are charts or dialogs.
    if (type !== "worksheet" || !parts[part]) return;
    const isHidden = (attribute("state") ?? "visible") !== "visible";
    found.push({ name: attribute("name") ?? "", isHidden, part });
  });
  const book = { texts: readSharedTexts(partOf("sharedStrings")), styles: readStyles(partOf("styles")), dates };
  return found.flatMap(({ name, isHidden, part }) => {
    const { rows, ...about } = readRows(textOfPart(parts[part]!), book);
    return rows.length === 0 ? [] : [{ name, isHidden, csv: csvOf(rows), ...about }];
  });
}

/**
 * Reads the sheets of an .xlsx workbook that have rows, hidden ones last. Formulas become their stored results.
 * @throws WorkbookError if it isn't a workbook, or has no visible rows
 */
export async function readSheets(file: Blob): Promise<[Sheet, ...Sheet[]]> {
  const archive = new Uint8Array(await file.arrayBuffer());
  let sheets: Sheet[];
  try {
    sheets = readParts(unpack(archive));
  } catch (error) {
    if (error instanceof WorkbookError) throw error;
    throw new WorkbookError(DAMAGED, { cause: error });
  }
  const [first, ...others] = sheets.toSorted((a, b) => Number(a.isHidden) - Number(b.isHidden));
  if (first === undefined) throw new WorkbookError("This workbook has no rows.");
  if (first.isHidden) throw new WorkbookError("Only hidden sheets of this workbook have rows. Show the one to import.");
  return [first, ...others];
}
