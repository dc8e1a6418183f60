import { useEffect, useMemo, useState } from "preact/hooks";
import { COMMA } from "../../../../lib/uploads/csv/delimiter.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { type Proposal, proposeMapping } from "../../../../lib/uploads/mapping/propose-mapping.ts";
import type { Api } from "./api.ts";
import { checkRows } from "./check-rows.ts";
import { CheckStep } from "./check-step.tsx";
import { isUnchecked } from "./columns-form.tsx";
import { confirmedColumns, useFileIds } from "./file-ids.ts";
import { FileStep } from "./file-step.tsx";
import { MappingForm } from "./mapping-form.tsx";
import { saveFile } from "./parts.tsx";
import { NO_REPAIRS } from "./repairs.ts";
import { type EarlierMapping, send, type Sent } from "./send.ts";
import { sentenceOf } from "./shown.ts";
import { TIME_ZONE } from "./sources.ts";
import { readFile, type TableFile } from "./table-file.ts";

const NOTHING_CHECKED: ReadonlySet<string> = new Set();

/** An earlier mapping for a file, which may have another delimiter, and its header in another row. */
function fitted({ mapping }: EarlierMapping, { delimiter, headerRow }: TableFile): Proposal {
  const { delimiter: _, header_row: __, ...others } = mapping;
  const place = { ...(headerRow !== 1 && { header_row: headerRow }), ...(delimiter !== COMMA && { delimiter }) };
  const isSame = (mapping.delimiter ?? COMMA) === delimiter && (mapping.header_row ?? 1) === headerRow;
  return { mapping: isSame ? mapping : { ...others, ...place }, columns: [] };
}

/** Whether what was sent last was a trial of the whole file as it would be imported now. */
function isTrialOf({ table, mapping, tried }: Sent, tableNow: TableFile, mappingNow: Mapping): boolean {
  const isSame = table === tableNow && JSON.stringify(mapping) === JSON.stringify(mappingNow);
  return isSame && tried !== undefined && tried.size === 0;
}

/** From a file to its import. @param earlier the mapping to begin with, in place of a proposal */
export function ImportView({
  api,
  earlier,
  sent,
  onForget,
  onSent,
}: {
  readonly api: Api;
  readonly earlier: EarlierMapping | undefined;
  /** What was sent last, whose mapping may have got a prefix since. */
  readonly sent: Sent | undefined;
  readonly onForget: () => void;
  readonly onSent: (sent: Sent) => void;
}) {
  const [table, setTable] = useState<TableFile>();
  const [isReading, setReading] = useState(false);
  const [mapping, setMapping] = useState<Mapping>({});
  const [proposed, setProposed] = useState<Proposal["columns"]>([]);
  const [headerDoubt, setHeaderDoubt] = useState<string>();
  const [checked, setChecked] = useState(NOTHING_CHECKED);
  const [error, setError] = useState<string>();
  const [sending, setSending] = useState<number>();
  const [filesTaken, setFilesTaken] = useState(0);
  // The next step begins where the file was taken.
  useEffect(() => {
    if (filesTaken > 0) document.querySelector<HTMLElement>("#columns")?.focus();
  }, [filesTaken]);
  const check = useMemo(() => (table ? checkRows(table, mapping) : undefined), [table, mapping]);

  const ids = useFileIds(table, mapping);
  const columns = useMemo(() => confirmedColumns(proposed, mapping, ids), [proposed, mapping, ids]);
  const unchecked = columns.filter((each) => isUnchecked(each, checked));

  const read = (next: TableFile): void => {
    const proposal = earlier ? fitted(earlier, next) : proposeMapping({ ...next, timeZone: TIME_ZONE });
    setTable(next);
    setMapping(proposal.mapping);
    setProposed(proposal.columns);
    setHeaderDoubt(proposal.headerDoubt);
    setChecked(NOTHING_CHECKED);
  };
  useEffect(() => {
    if (table) read(table);
  }, [earlier]);
  useEffect(() => {
    if (sent && sent.table === table) setMapping(sent.mapping);
  }, [sent]);
  const take = (file: File): void => {
    setError(undefined);
    setReading(true);
    readFile(file)
      .then(
        (next) => {
          read(next);
          setFilesTaken((count) => count + 1);
        },
        (caught: unknown) => {
          setTable(undefined);
          setError(sentenceOf(caught));
        },
      )
      .finally(() => setReading(false));
  };
  const start = async (dryRun: boolean): Promise<void> => {
    if (!table) return;
    setError(undefined);
    setSending(0);
    try {
      const isChecked = unchecked.length === 0;
      await send(api, { table, mapping, dryRun, isChecked, repairs: NO_REPAIRS }, onSent, setSending, earlier);
    } catch (caught) {
      setError(sentenceOf(caught));
    }
    setSending(undefined);
  };

  return (
    <>
      <FileStep
        table={table}
        earlier={earlier}
        isReading={isReading}
        error={error}
        headerDoubt={headerDoubt}
        onFile={take}
        onRead={read}
        onForget={onForget}
      />
      {table && check && (
        <>
          <section aria-labelledby="columns">
            <h2 id="columns" tabIndex={-1}>
              2. Map your columns
            </h2>
            <MappingForm
              table={table}
              mapping={mapping}
              proposed={columns}
              checked={checked}
              onChange={setMapping}
              onCheck={(column) => setChecked(new Set([...checked, column]))}
            />
            <details>
              <summary>This mapping as JSON, for the API</summary>
              <pre tabIndex={0}>{JSON.stringify(mapping, null, 2)}</pre>
              <button
                type="button"
                onClick={() => saveFile("mapping.json", new Blob([JSON.stringify(mapping, null, 2)]))}
              >
                Save
              </button>
            </details>
          </section>
          <CheckStep
            check={check}
            ids={ids}
            trial={sent && isTrialOf(sent, table, mapping) ? sent.jobId : undefined}
            unchecked={unchecked}
            error={error}
            sending={sending}
            onStart={(dryRun) => void start(dryRun)}
          />
        </>
      )}
    </>
  );
}
