import { useEffect, useMemo, useState } from "preact/hooks";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import type { ProposedColumn } from "@work-items/importer/proposals/propose-mapping.ts";
import {
  checkedColumns,
  type IdFindings,
  NOT_COMPARED,
  readRepeatedIds,
} from "@work-items/importer/checks/repeated-ids.ts";
import { observeTable, type TableFile } from "./table-file.ts";

/** What is known of the IDs that a mapping makes of the whole file. */
export interface FileIds {
  /** The part of the file that was read, 0 to 1, until its end is reached. */
  readonly part: number | undefined;
  /** Undefined until then, and where IDs may repeat: each row is an event of its item. */
  readonly findings: IdFindings | undefined;
}

const NOT_READ: FileIds = { part: 0, findings: undefined };
const MAY_REPEAT: FileIds = { part: undefined, findings: undefined };

/** Reads a file to its end, in the background, whenever its IDs are made in another way. */
export function useFileIds(table: TableFile | undefined, { fields, empty, event }: Mapping): FileIds {
  const source = fields?.["external_id"];
  const isRead = table !== undefined && source !== undefined && event === undefined;
  // What is known is of the file and the IDs as they were when it was read.
  const of = useMemo(() => ({}), [table, JSON.stringify([source, empty]), isRead]);
  const [known, setKnown] = useState<{ readonly of: object; readonly ids: FileIds }>();
  useEffect(() => {
    if (!isRead) return undefined;
    const abort = new AbortController();
    const show = (part: number | undefined, findings?: IdFindings): void => setKnown({ of, ids: { part, findings } });
    const mapping = { fields: { external_id: source }, ...(empty && { empty }) };
    const options = { signal: abort.signal, onPart: show };
    readRepeatedIds((begin) => observeTable(table, begin, options), mapping).then(
      (findings) => show(undefined, findings ?? NOT_COMPARED),
      // The file may be gone. To send it fails then, too.
      () => show(undefined, NOT_COMPARED),
    );
    return () => abort.abort();
  }, [of]);
  if (!isRead) return MAY_REPEAT;
  return known?.of === of ? known.ids : NOT_READ;
}

/** The columns of a proposal, as far as the whole file confirms that of the IDs, while it still is that. */
export function confirmedColumns(
  columns: readonly ProposedColumn[],
  mapping: Mapping,
  { part, findings }: FileIds,
): readonly ProposedColumn[] {
  const id = columns.find(({ target }) => target === "external_id");
  const isUsed = id !== undefined && mapping.fields?.["external_id"]?.column === id.column;
  return isUsed && (part !== undefined || findings) ? checkedColumns(columns, findings) : columns;
}
