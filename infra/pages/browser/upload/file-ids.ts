import { useEffect, useMemo, useState } from "preact/hooks";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import type { ProposedColumn } from "@work-items/importer/proposals/propose-mapping.ts";
import {
  checkedColumns,
  type IdFindings,
  idsOf,
  NOT_COMPARED,
  type RepeatedIds,
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

async function readIds(
  table: TableFile,
  mapping: Mapping,
  signal: AbortSignal,
  onPart: (part: number) => void,
): Promise<IdFindings> {
  let ids: RepeatedIds | undefined;
  const isWhole = await observeTable(
    table,
    (names) => [(ids = idsOf(mapping, names))].filter((each) => each !== undefined),
    { signal, onPart },
  );
  return ids ? { ...ids.findings, isComplete: ids.findings.isComplete && isWhole } : NOT_COMPARED;
}

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
    readIds(table, mapping, abort.signal, show).then(
      (findings) => show(undefined, findings),
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
