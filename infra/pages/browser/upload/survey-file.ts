import { RowSurvey, type Survey } from "../../../../lib/uploads/mapping/survey.ts";
import { observeRows } from "../../../table-files/whole-file.ts";
import { streamOf, type TableFile } from "./table-file.ts";

/** Progress is told in steps of this part. */
const STEP = 0.01;

/**
 * What all rows of a file say of its columns; of those before the signal, if it comes first.
 * @param onProgress called with the part that was read, 0 to 1
 */
export async function surveyFile(
  table: TableFile,
  { signal, onProgress }: { readonly signal?: AbortSignal; readonly onProgress?: (part: number) => void } = {},
): Promise<Survey> {
  const survey = new RowSurvey(table.names.length);
  const { delimiter, headerRow, size } = table;
  let told = 0;
  const tell = (bytes: number): void => {
    const part = Math.min(1, bytes / size);
    if (part < told + STEP) return;
    told = part;
    onProgress?.(part);
  };
  try {
    await observeRows(streamOf(table), { delimiter, headerRow, onProgress: tell, ...(signal && { signal }) }, () => [
      survey,
    ]);
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
  return survey.result();
}
