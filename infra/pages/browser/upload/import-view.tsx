import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { COMMA } from "../../../../lib/uploads/csv/delimiter.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { type Proposal, proposeMapping } from "@work-items/importer/proposals/propose-mapping.ts";
import type { Api } from "./api.ts";
import { answersIn, type Checked, uncheckedColumns, ZONE_ANSWERED } from "./answers.ts";
import { checkRows } from "./check-rows.ts";
import { CheckStep } from "./check-step.tsx";
import { confirmedColumns, useFileIds } from "./file-ids.ts";
import { FileStep } from "./file-step.tsx";
import { MappingForm } from "./mapping-form.tsx";
import { saveFile } from "./parts.tsx";
import { LEFT_OUT, type Repairs, textOfRepairs } from "@work-items/importer/files/repairs.ts";
import { type EarlierMapping, send, type Sent } from "./send.ts";
import { sentenceOf } from "./shown.ts";
import { TIME_ZONE } from "./sources.ts";
import { keepTimeZone, keptTimeZone } from "./kept-zone.ts";
import { surveyFile } from "./survey-file.ts";
import { readFile, type TableFile } from "./table-file.ts";
import { totalsOf, withoutRows } from "./left-out-rows.ts";
import { TotalsForm } from "./totals-form.tsx";
import { UndatedNote } from "./undated-note.tsx";

const NOTHING_CHECKED: Checked = new Set();
/** Why a scan of the file ends early: it is read in another way. */
const REPLACED = "replaced";
const NO_ROWS: ReadonlySet<number> = new Set();

/** An earlier mapping for a file, which may have another delimiter, and its header in another row. */
function fitted({ mapping }: EarlierMapping, { delimiter, headerRow }: TableFile): Proposal {
  const { delimiter: _, header_row: __, ...others } = mapping;
  const place = { ...(headerRow !== 1 && { header_row: headerRow }), ...(delimiter !== COMMA && { delimiter }) };
  const isSame = (mapping.delimiter ?? COMMA) === delimiter && (mapping.header_row ?? 1) === headerRow;
  return { mapping: isSame ? mapping : { ...others, ...place }, columns: [] };
}

/** Whether what was sent last was a trial of the whole file as it would be imported now. */
function isTrialOf(
  { table, mapping, tried }: Sent,
  now: { readonly table: TableFile | undefined; readonly mapping: Mapping; readonly repairs: Repairs },
): boolean {
  const isSame = table === now.table && JSON.stringify(mapping) === JSON.stringify(now.mapping);
  return isSame && tried !== undefined && textOfRepairs(tried) === textOfRepairs(now.repairs);
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
  const [keptTotals, setKeptTotals] = useState(NO_ROWS);
  const scan = useRef<AbortController | undefined>(undefined);
  const [scanned, setScanned] = useState(0);
  // The next step begins where the file was taken.
  useEffect(() => {
    if (filesTaken > 0) document.querySelector<HTMLElement>("#columns")?.focus();
  }, [filesTaken]);
  const totals = useMemo(() => (table ? totalsOf(table, mapping) : []), [table, mapping]);
  const leftOut = useMemo(
    () => new Set(totals.flatMap(({ row }) => (keptTotals.has(row) ? [] : [row]))),
    [totals, keptTotals],
  );
  const imported = useMemo(() => table && withoutRows(table, leftOut), [table, leftOut]);
  const repairs: Repairs = useMemo(() => new Map([...leftOut].map((row) => [row, LEFT_OUT])), [leftOut]);
  const check = useMemo(() => (imported ? checkRows(imported, mapping) : undefined), [imported, mapping]);
  const ids = useFileIds(table, mapping, leftOut);
  const columns = useMemo(() => confirmedColumns(proposed, mapping, ids), [proposed, mapping, ids]);
  const unchecked = table ? uncheckedColumns(table, mapping, columns, checked) : [];

  /** Looks through the file, then proposes a mapping. A file that is read in another way meanwhile takes its place. */
  const read = async (next: TableFile): Promise<void> => {
    scan.current?.abort(REPLACED);
    const controller = new AbortController();
    scan.current = controller;
    setScanned(0);
    setReading(true);
    const zone = await keptTimeZone(api);
    const survey = await surveyFile(next, { signal: controller.signal, onPart: setScanned });
    if (controller.signal.reason === REPLACED) return;
    setReading(false);
    const seen = { ...next, survey };
    const times = { timeZone: zone ?? TIME_ZONE, isZoneChosen: zone !== undefined };
    const proposal = earlier ? fitted(earlier, next) : proposeMapping({ ...seen, ...times });
    setTable(seen);
    setMapping(proposal.mapping);
    setProposed(proposal.columns);
    setHeaderDoubt(proposal.headerDoubt);
    setChecked(earlier ? answersIn(seen, proposal.mapping) : zone === undefined ? NOTHING_CHECKED : ZONE_ANSWERED);
    setKeptTotals(NO_ROWS);
  };
  useEffect(() => {
    if (table) void read(table);
  }, [earlier]);
  useEffect(() => {
    if (sent && sent.table === table) setMapping(sent.mapping);
  }, [sent]);
  const take = (file: File): void => {
    setError(undefined);
    setReading(true);
    readFile(file)
      .then(read)
      .then(() => setFilesTaken((count) => count + 1))
      .catch((caught: unknown) => {
        setTable(undefined);
        setReading(false);
        setError(sentenceOf(caught));
      });
  };
  const start = async (dryRun: boolean): Promise<void> => {
    if (!table) return;
    setError(undefined);
    setSending(0);
    try {
      const isChecked = unchecked.length === 0;
      await keepTimeZone(api, mapping);
      await send(api, { table, mapping, dryRun, isChecked, repairs }, onSent, setSending, earlier);
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
        onRead={(next) => void read(next)}
        onForget={onForget}
      />
      {isReading && scanned > 0 && (
        <p role="status">
          Looking through the file… <progress value={scanned} aria-label="Part of the file that was looked through" />{" "}
          <button type="button" onClick={() => scan.current?.abort()}>
            Go on with the rows so far
          </button>
        </p>
      )}
      {table && imported && check && !table.text?.format.doubt && (
        <>
          <section aria-labelledby="columns">
            <h2 id="columns" tabIndex={-1}>
              2. Map your columns
            </h2>
            <MappingForm
              table={imported}
              mapping={mapping}
              proposed={columns}
              checked={checked}
              onChange={setMapping}
              onAnswer={(answered) => {
                setMapping(answered.mapping);
                setChecked(answered.checked);
              }}
            />
            <TotalsForm totals={totals} kept={keptTotals} onChange={setKeptTotals} />
            <UndatedNote table={imported} mapping={mapping} />
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
            trial={sent && isTrialOf(sent, { table, mapping, repairs }) ? sent.jobId : undefined}
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
