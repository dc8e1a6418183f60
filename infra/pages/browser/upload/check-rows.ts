import { describeProblems } from "../../../../lib/errors.ts";
import { assertHeader } from "../../../../lib/uploads/csv/header-names.ts";
import type { RowError } from "../../../../lib/uploads/csv/row-reader.ts";
import { problemsOfMapping } from "../../../../lib/uploads/mapping/check-mapping.ts";
import { mappedReader } from "../../../../lib/uploads/mapping/mapped-columns.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { asSentence, isBlank } from "./read-text.ts";
import type { TableFile } from "./table-file.ts";

/** What an import would say of the mapping and of the first rows. */
export interface CheckedRows {
  /** What is wrong with the mapping, or does not fit the file; undefined if nothing is. */
  readonly problem: string | undefined;
  /** Number of rows that were checked. */
  readonly rows: number;
  /** Rows that would fail, numbered as in a spreadsheet. */
  readonly failed: readonly { readonly row: number; readonly error: RowError }[];
}

const problemWith = (problem: string): CheckedRows => ({ problem, rows: 0, failed: [] });

/** Checks a mapping and the first rows of a file by the service's own code. */
export const checkRows = ({ names, rows, problem }: TableFile, mapping: Mapping): CheckedRows => {
  if (problem !== undefined) return problemWith(asSentence(problem));
  if (mapping.fields?.["external_id"] === undefined) {
    return problemWith("Choose the column that identifies an item: nothing can be imported without it.");
  }
  const problems = problemsOfMapping(mapping);
  if (problems.length > 0) return problemWith(describeProblems(problems, "mapping"));
  try {
    assertHeader(names);
    const reader = mappedReader(mapping, names);
    const read = rows
      .map((cells, index) => ({ row: index + 2, cells }))
      .filter(({ cells }) => !isBlank(cells) && !reader.isEmpty(cells));
    const failed = read.flatMap(({ row, cells }) => {
      const reading = reader.read(cells);
      return "error" in reading ? [{ row, error: reading.error }] : [];
    });
    return { problem: undefined, rows: read.length, failed };
  } catch (error) {
    return problemWith(error instanceof Error ? error.message : "The file cannot be read.");
  }
};
