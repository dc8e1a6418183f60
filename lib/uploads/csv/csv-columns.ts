import { describeProblems } from "../../problem.ts";
import { problemsOf } from "../../schema-problems.ts";
import { readCell } from "../../work-items/field-definition.ts";
import { type WorkItemInput, workItemInputSchema } from "../../work-items/work-item.ts";
import { WORK_ITEM_FIELDS } from "../../work-items/work-item-fields.ts";
import { InvalidFileError } from "./csv-reader.ts";

/** Limit of the header's size. It is stored in the job's record, which every request for the job reads. */
export const HEADER_MAX_BYTES = 64 * 1024;

type FieldName = "external_id" | keyof typeof WORK_ITEM_FIELDS;
const FIELDS: readonly FieldName[] = ["external_id", ...(Object.keys(WORK_ITEM_FIELDS) as FieldName[])];

/** Column of the row's number in the report of failed rows. Uploads ignore it, so that they accept such a report. */
export const ROW_COLUMN = "_row";
/** Column of the reason in the report of failed rows. Uploads ignore it too. */
export const ERROR_COLUMN = "_error";
const IGNORED: ReadonlySet<string> = new Set([ROW_COLUMN, ERROR_COLUMN]);
const ATTRIBUTE_PREFIX = "custom_attributes.";

type Column =
  | { readonly kind: "field"; readonly name: FieldName }
  | { readonly kind: "attribute"; readonly name: string }
  | { readonly kind: "ignored" };

/** The meaning of each cell of a row, in order. */
export type Columns = readonly Column[];

const toColumn = (name: string): Column | null => {
  if (IGNORED.has(name)) return { kind: "ignored" };
  if (name.startsWith(ATTRIBUTE_PREFIX)) {
    const attribute = name.slice(ATTRIBUTE_PREFIX.length);
    return attribute === "" || attribute === "__proto__" ? null : { kind: "attribute", name: attribute };
  }
  const field = FIELDS.find((known) => known === name);
  return field === undefined ? null : { kind: "field", name: field };
};

const OTHER_DELIMITERS = { ";": "semicolons", "\t": "tabs", "|": "vertical bars" } as const;

const otherDelimiter = (names: readonly string[]): string | undefined => {
  const only = names.length === 1 ? names[0] : undefined;
  return Object.entries(OTHER_DELIMITERS).find(([character]) => only?.includes(character))?.[1];
};

const refuse = (problem: string): never => {
  throw new InvalidFileError(`row 1: ${problem}`);
};

const shown = (name: string): string => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);

/**
 * Parses the header.
 * @param names the unquoted cells of row 1
 * @throws InvalidFileError naming every unknown and every repeated column, or another problem of the header
 */
export const parseHeader = (names: readonly string[]): Columns => {
  if (names.every((name) => name === "")) refuse("must be the header");
  const delimiter = otherDelimiter(names);
  if (delimiter !== undefined) refuse(`columns must be separated by commas, not ${delimiter}`);
  if (names.some((name) => name.includes("\r"))) refuse("rows must end with LF or CRLF, not CR");

  const columns = names.map(toColumn);
  const unknown = names.filter((_, index) => columns[index] === null);
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  const problems = [
    ...(unknown.length > 0 ? [`unknown column ${unknown.map(shown).join(", ")}`] : []),
    ...(repeated.size > 0 ? [`repeated column ${[...repeated].map(shown).join(", ")}`] : []),
    ...(names.includes("external_id") ? [] : ["column external_id is missing"]),
  ];
  if (problems.length > 0) {
    refuse(`${problems.join("; ")} (columns are ${FIELDS.join(", ")} and ${ATTRIBUTE_PREFIX}<name>)`);
  }
  return columns.filter((column) => column !== null);
};

/** Index of the column `external_id`. */
export const externalIdIndex = (columns: Columns): number =>
  columns.findIndex((column) => column.kind === "field" && column.name === "external_id");

/** The work item input in a row, or the problems of the row. */
export type RowReading = { readonly input: WorkItemInput } | { readonly error: string };

/**
 * Reads one row. An empty cell is an omitted field; a cell of `custom_attributes.<name>` overrides the same name in
 * `custom_attributes`.
 * @param cells unquoted cells
 */
export const readRow = (columns: Columns, cells: readonly string[]): RowReading => {
  if (cells.length !== columns.length) {
    return { error: `the row has ${cells.length} cells where the header has ${columns.length}` };
  }
  const fields: Record<string, unknown> = { external_id: "" };
  const attributes: [string, string][] = [];
  for (const [index, column] of columns.entries()) {
    const cell = cells[index]!;
    if (cell === "" || column.kind === "ignored") continue;
    if (column.kind === "attribute") attributes.push([column.name, cell]);
    else if (column.name === "external_id") fields[column.name] = cell;
    else {
      try {
        fields[column.name] = readCell(WORK_ITEM_FIELDS[column.name], cell);
      } catch (error) {
        return { error: `${column.name}: ${error instanceof Error ? error.message : "cannot be read"}` };
      }
    }
  }
  if (attributes.length > 0) {
    const { custom_attributes: json } = fields as { readonly custom_attributes?: object };
    fields["custom_attributes"] = { ...json, ...Object.fromEntries(attributes) };
  }
  const parsed = workItemInputSchema.safeParse(fields);
  return parsed.success ? { input: parsed.data } : { error: describeProblems(problemsOf(parsed.error), "row") };
};
