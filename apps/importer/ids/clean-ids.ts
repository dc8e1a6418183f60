import { columnIndex } from "@work-items/lib/uploads/csv/header-names.ts";
import type { Mapping } from "@work-items/lib/uploads/mapping/mapping.ts";
import type { IdJudgement, Wrapping } from "./id-forms.ts";

/** What is removed from the IDs of a column before the file is sent. */
export interface IdCleaning {
  /** Index of the column. */
  readonly column: number;
  readonly wrapping: Wrapping;
  /** An ID as the file has it. */
  readonly example: string;
}

/** The index of the column that alone makes the IDs; -1 if there is none, or if they are made of several. */
export function idColumn({ fields }: Pick<Mapping, "fields">, names: readonly string[]): number {
  const column = fields?.["external_id"]?.column;
  return column === undefined ? -1 : columnIndex(names, column);
}

/** What is removed, because all IDs have it; undefined if nothing is. */
export function cleaningFor(column: number, judged: IdJudgement | undefined): IdCleaning | undefined {
  const { wrapping, example } = judged ?? {};
  return column === -1 || !wrapping || example === undefined ? undefined : { column, wrapping, example };
}

/** Says what is removed, as a sentence without its end. @param name the column's */
export function noteOfCleaning({ wrapping, example }: Pick<IdCleaning, "wrapping" | "example">, name: string): string {
  return `all values of "${name}" have ${wrapping.name}, which isn't imported: ${example} becomes ${wrapping.inside(example) ?? ""}`;
}
