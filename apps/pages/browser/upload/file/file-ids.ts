import type { Mapping, Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { type IdFindings, NOT_COMPARED, readIds } from "@work-items/importer/ids/repeated-ids.ts";
import { isEmptyWord } from "@work-items/importer/proposals/empty-words.ts";
import { columnIndex } from "@work-items/lib/uploads/csv/header-names.ts";
import { observeTable, type SurveyedTable } from "./table-file.ts";
import { useLoaded } from "../parts/use-calls.ts";

/** What is known about the IDs that a mapping makes of the whole file. */
export interface FileIds {
  /** The part of the file that has been read, 0 to 1; undefined at its end. */
  readonly part: number | undefined;
  /** Undefined until the end is reached, and if IDs may repeat because each row is an event. */
  readonly findings: IdFindings | undefined;
}

const NOT_READ: FileIds = { part: 0, findings: undefined };
const MAY_REPEAT: FileIds = { part: undefined, findings: undefined };

/** What the survey of a file showed about the IDs in a column; undefined if it didn't compare exactly those. */
function surveyedIds(
  { names, survey, leftOut }: SurveyedTable,
  { column, ...others }: Source,
  empty: readonly string[] = [],
): IdFindings | undefined {
  if (column === undefined || Object.keys(others).length > 0 || !empty.every(isEmptyWord)) return undefined;
  const index = columnIndex(names, column);
  const isSame = survey.totals.length === (leftOut?.size ?? 0) && survey.columns[index]?.emptyWords.size === 0;
  const findings = survey.ids.get(index);
  return isSame && findings?.isComplete === true ? findings : undefined;
}

/** What is known about the IDs of a file. Reads it in the background, if they were not compared when it was opened. */
export function useFileIds(table: SurveyedTable | undefined, { fields, empty, event }: Mapping): FileIds {
  const source = fields?.["external_id"];
  const hasIds = table !== undefined && source !== undefined && event === undefined;
  const known = hasIds ? surveyedIds(table, source, empty) : undefined;
  const isRead = hasIds && known === undefined;
  const read = async (signal: AbortSignal, show: (ids: FileIds) => void): Promise<FileIds> => {
    if (!isRead) return MAY_REPEAT;
    const mapping = { fields: { external_id: source }, ...(empty && { empty }) };
    const options = { signal, onPart: (part: number) => show({ part, findings: undefined }) };
    const reading = readIds((begin) => observeTable(table, begin, options), mapping);
    // The file may be gone. Then sending it fails too.
    return { part: undefined, findings: (await reading.catch(() => undefined)) ?? NOT_COMPARED };
  };
  const { value = NOT_READ } = useLoaded(read, [table, JSON.stringify([source, empty]), isRead]);
  if (known !== undefined) return { part: undefined, findings: known };
  return isRead ? value : MAY_REPEAT;
}
