import { describeProblems } from "../../../../lib/errors.ts";
import { assertHeader } from "../../../../lib/uploads/csv/header-names.ts";
import { InvalidFileError } from "../../../../lib/uploads/csv/invalid-file-error.ts";
import type { RowError } from "../../../../lib/uploads/csv/row-reader.ts";
import { problemsOfMapping } from "../../../../lib/uploads/mapping/check-mapping.ts";
import { mappedReader } from "../../../../lib/uploads/mapping/mapped-columns.ts";
import { ATTRIBUTE_PREFIX } from "../../../../lib/uploads/csv/target.ts";
import type { Mapping, Source } from "../../../../lib/uploads/mapping/mapping.ts";
import { type ColumnRole, KEPT, rolesOf } from "./column-roles.ts";
import { inPageWords } from "./field-names.ts";
import { shownStart } from "./shown.ts";
import { asSentence, isBlank, type TableFile } from "./table-file.ts";

/** More problems are counted: a mapping for another file has hundreds. */
const SHOWN_PROBLEMS = 5;
/** Of longer values only the start is shown. */
const SHOWN_CHARACTERS = 100;

/** What an import would say of the mapping and of the first rows. */
export interface CheckedRows {
  /** What is wrong with the mapping, or does not fit the file; undefined if nothing is. */
  readonly problem: string | undefined;
  /** Number of rows that were checked. */
  readonly rows: number;
  /** Number of those that would fail. */
  readonly failed: number;
}

function problemWith(problem: string): CheckedRows {
  return { problem, rows: 0, failed: 0 };
}

/** Checks a mapping and the first rows of a file by the service's own code. */
export function checkRows({ names, rows, headerRow, problem }: TableFile, mapping: Mapping): CheckedRows {
  if (problem !== undefined) return problemWith(asSentence(problem));
  if (mapping.fields?.["external_id"] === undefined) {
    return problemWith("Choose the column with the unique ID of each item, or make an ID of several columns.");
  }
  const problems = problemsOfMapping(mapping);
  if (problems.length > 0)
    return problemWith(asSentence(inPageWords(describeProblems(problems, "mapping", SHOWN_PROBLEMS))));
  try {
    assertHeader(names, headerRow);
    const reader = mappedReader(mapping, names);
    const filled = rows.filter((cells) => !isBlank(cells) && !reader.isEmpty(cells));
    const failed = filled.filter((cells) => "error" in reader.read(cells));
    return { problem: undefined, rows: filled.length, failed: failed.length };
  } catch (error) {
    if (!(error instanceof InvalidFileError)) throw error;
    const { problems: all, message } = error;
    const shown = all.length > SHOWN_PROBLEMS ? describeProblems(all, "mapping", SHOWN_PROBLEMS) : message;
    return problemWith(asSentence(inPageWords(shown)));
  }
}

/** The rows whose cell in a column cannot be read. */
export interface Misfit {
  readonly rows: number;
  /** What is wrong with the first of them. */
  readonly example: string;
}

/** What stands for the unique ID while another column is checked. */
const ANY_ID: Source = { value: "id" };

/** The mapping of a column alone. */
function mappingOf({ role, source, name }: ColumnRole, { empty, decimal }: Mapping): Mapping | undefined {
  const target = role === KEPT ? ATTRIBUTE_PREFIX + name : role;
  if (source === undefined) return undefined;
  const fields = { external_id: ANY_ID, [target]: source };
  return { fields, others: "ignore", ...(empty && { empty }), ...(decimal && { decimal }) };
}

/** The columns whose cells do not fit what they become, by their places. */
export function misfitsOf({ names, rows }: TableFile, mapping: Mapping): ReadonlyMap<number, Misfit> {
  const misfits = new Map<number, Misfit>();
  const filled = rows.filter((cells) => cells.some((cell) => cell.trim() !== ""));
  for (const column of rolesOf(names, mapping)) {
    const own = mappingOf(column, mapping);
    if (own === undefined || problemsOfMapping(own).length > 0) continue;
    const problemOf = readRowProblem(names, own);
    const failed = filled.flatMap((cells) => problemOf(Array.from(names, (_, index) => cells[index] ?? "")) ?? []);
    const [first] = failed;
    if (first) misfits.set(column.index, { rows: failed.length, example: first.sentence });
  }
  return misfits;
}

/** What is wrong with a row, for people. */
export interface RowProblem {
  /** Name of the column, as the page shows it. */
  readonly column: string;
  readonly sentence: string;
}

/** Makes the function that reads a row of a file by the service's own code. It returns undefined for one that fits. */
export function readRowProblem(names: readonly string[], mapping: Mapping) {
  const reader = mappedReader(mapping, names);
  return (cells: readonly string[]): RowProblem | undefined => {
    const reading = reader.read(cells);
    return "error" in reading ? { column: reading.error.column, sentence: exampleOf(reading.error) } : undefined;
  };
}

/** What the service says in one line, in sentences: the pieces that it puts semicolons between. */
function inSentences(problem: string): string {
  // A further problem begins with its field, such as `; agent_email: must be …`.
  const sentences = problem.replaceAll(/; (?![\w.]+:)([a-z])/g, (_, first: string) => `. ${first.toUpperCase()}`);
  return asSentence(inPageWords(sentences.replaceAll(/(?<=one of [\w, ]*)_/g, " ")));
}

/** An error in the words of the page, whose tables name column and value beside it. */
export function exampleOf({ message, value }: Pick<RowError, "message" | "value">): string {
  const [, problem = message] = /^[^:]+: (.*?)(?: \(column .*)?$/s.exec(message) ?? [];
  const isNamed = value === "" || problem.startsWith('"');
  const wrong = problem.replace(/^must be (?=one of |an? )/, "isn’t ");
  return inSentences(isNamed ? problem : `“${shownStart(value, SHOWN_CHARACTERS)}” ${wrong}`);
}
