import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import type { ProposedColumn } from "@work-items/importer/proposals/propose-mapping.ts";
import {
  checkedColumns,
  type IdFindings,
  NOT_COMPARED,
  readRepeatedIds,
} from "@work-items/importer/checks/repeated-ids.ts";
import { observeTable, type TableFile } from "./table-file.ts";
import { useLoaded } from "./use-calls.ts";

/** What is known about the IDs that a mapping makes of the whole file. */
export interface FileIds {
  /** The part of the file that has been read, 0 to 1; undefined at its end. */
  readonly part: number | undefined;
  /** Undefined until the end is reached, and if IDs may repeat because each row is an event. */
  readonly findings: IdFindings | undefined;
}

const NOT_READ: FileIds = { part: 0, findings: undefined };
const MAY_REPEAT: FileIds = { part: undefined, findings: undefined };

/** Reads the whole file in the background, again whenever its IDs are made in another way. */
export function useFileIds(table: TableFile | undefined, { fields, empty, event }: Mapping): FileIds {
  const source = fields?.["external_id"];
  const isRead = table !== undefined && source !== undefined && event === undefined;
  const read = async (signal: AbortSignal, show: (ids: FileIds) => void): Promise<FileIds> => {
    if (!isRead) return MAY_REPEAT;
    const mapping = { fields: { external_id: source }, ...(empty && { empty }) };
    const options = { signal, onPart: (part: number) => show({ part, findings: undefined }) };
    const reading = readRepeatedIds((begin) => observeTable(table, begin, options), mapping);
    // The file may be gone. Then sending it fails too.
    return { part: undefined, findings: (await reading.catch(() => undefined)) ?? NOT_COMPARED };
  };
  const { value = NOT_READ } = useLoaded(read, [table, JSON.stringify([source, empty]), isRead]);
  return isRead ? value : MAY_REPEAT;
}

/** A proposal's columns. If its ID column is still used, with what the whole file says about it. */
export function confirmedColumns(
  columns: readonly ProposedColumn[],
  mapping: Mapping,
  { part, findings }: FileIds,
): readonly ProposedColumn[] {
  const id = columns.find(({ target }) => target === "external_id");
  const isUsed = id !== undefined && mapping.fields?.["external_id"]?.column === id.column;
  return isUsed && (part !== undefined || findings) ? checkedColumns(columns, findings) : columns;
}
