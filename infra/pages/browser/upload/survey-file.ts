import { RowSurvey, type Survey } from "@work-items/importer/proposals/survey.ts";
import { observeTable, type TableFile } from "./table-file.ts";

/**
 * What all rows of a file say of its columns; of those before the signal, if it comes first.
 * @param options `onPart` is called with the part that was read, 0 to 1
 */
export async function surveyFile(
  table: TableFile,
  options: { readonly signal?: AbortSignal; readonly onPart?: (part: number) => void } = {},
): Promise<Survey> {
  const survey = new RowSurvey(table.names.length);
  try {
    await observeTable(table, () => [survey], options);
  } catch (error) {
    if (options.signal?.aborted !== true) throw error;
  }
  return survey.result();
}
