import { describeProblems } from "@work-items/lib/errors.ts";
import { assertHeader } from "@work-items/lib/uploads/csv/header-names.ts";
import { InvalidFileError } from "@work-items/lib/uploads/csv/invalid-file-error.ts";
import type { RowError } from "@work-items/lib/uploads/csv/row-reader.ts";
import { problemsOfMapping } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import { mappedReader } from "@work-items/lib/uploads/mapping/mapped-columns.ts";
import type { Mapping } from "@work-items/lib/uploads/mapping/mapping.ts";
import { inPageWords } from "../parts/field-names.ts";
import { shownStart } from "../parts/shown.ts";
import { asSentence, isBlank, type TableFile } from "./table-file.ts";

/** Further problems are only counted: a mapping for another file has hundreds. */
const SHOWN_PROBLEMS = 5;
/** Longer values are cut. */
const SHOWN_CHARACTERS = 100;

/** What an import would say of the mapping and of the first rows. */
interface CheckedRows {
  /** What is wrong with the mapping, or doesn't fit the file; undefined if nothing is. */
  readonly problem: string | undefined;
  /** How many rows were checked. */
  readonly rows: number;
  /** How many of them would fail. */
  readonly failed: number;
  /** Why the first of them would. */
  readonly example?: string | undefined;
}

function problemWith(problem: string): CheckedRows {
  return { problem, rows: 0, failed: 0 };
}

/** The first rows that an import reads: those with a value. */
export function readRows({ names, rows }: TableFile, mapping: Mapping): readonly (readonly string[])[] {
  const filled = rows.filter((cells) => !isBlank(cells));
  // If the mapping doesn't fit the file, another message says so.
  if (problemsOfMapping(mapping).length > 0) return filled;
  try {
    const reader = mappedReader(mapping, names);
    return filled.filter((cells) => !reader.isEmpty(cells));
  } catch (error) {
    if (error instanceof InvalidFileError) return filled;
    throw error;
  }
}

/** Checks a mapping and the first rows of a file with the service's own code. */
export function checkRows(table: TableFile, mapping: Mapping): CheckedRows {
  const { names, headerRow, problem } = table;
  if (problem !== undefined) return problemWith(asSentence(problem));
  if (mapping.fields?.["external_id"] === undefined) {
    return problemWith("Choose the column with the ID of each item, or make an ID of several columns.");
  }
  const problems = problemsOfMapping(mapping);
  if (problems.length > 0)
    return problemWith(asSentence(inPageWords(describeProblems(problems, "mapping", SHOWN_PROBLEMS))));
  try {
    assertHeader(names, headerRow);
    const reader = mappedReader(mapping, names);
    const rows = readRows(table, mapping);
    const errors = rows.flatMap((cells) => {
      const reading = reader.read(cells);
      return "error" in reading ? [reading.error] : [];
    });
    const [first] = errors;
    return { problem: undefined, rows: rows.length, failed: errors.length, example: first && exampleOf(first) };
  } catch (error) {
    if (!(error instanceof InvalidFileError)) throw error;
    const { problems: all, message } = error;
    const shown = all.length > SHOWN_PROBLEMS ? describeProblems(all, "mapping", SHOWN_PROBLEMS) : message;
    return problemWith(asSentence(inPageWords(shown)));
  }
}

/** What is wrong with a row, for people. */
export interface RowProblem {
  /** Name of the column, as the page shows it. */
  readonly column: string;
  readonly sentence: string;
}

/** Makes the function that reads a row with the service's own code. It returns undefined for a valid row. */
export function readRowProblem(names: readonly string[], mapping: Mapping) {
  const reader = mappedReader(mapping, names);
  return (cells: readonly string[]): RowProblem | undefined => {
    const reading = reader.read(cells);
    return "error" in reading ? { column: reading.error.column, sentence: exampleOf(reading.error) } : undefined;
  };
}

/** Turns the service's line of problems, with semicolons between them, into sentences. */
function inSentences(problem: string): string {
  // After a semicolon, a field's name begins another problem, such as `; agent_email: must be …`.
  const sentences = problem.replaceAll(/; (?![\w.]+:)([a-z])/g, (_, first: string) => `. ${first.toUpperCase()}`);
  return asSentence(inPageWords(sentences.replaceAll(/(?<=one of [\w, ]*)_/g, " ")));
}

/** An error in the page's words, without column and value, which the page's tables show beside it. */
export function exampleOf({ message, value }: Pick<RowError, "message" | "value">): string {
  const [, problem = message] = /^[^:]+: (.*?)(?: \(column .*)?$/s.exec(message) ?? [];
  const isNamed = value === "" || problem.startsWith('"');
  const wrong = problem.replace(/^must be (?=one of |an? )/, "isn’t ");
  return inSentences(isNamed ? problem : `“${shownStart(value, SHOWN_CHARACTERS)}” ${wrong}`);
}
