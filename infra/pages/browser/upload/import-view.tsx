import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { COMMA } from "../../../../lib/uploads/csv/delimiter.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { type Proposal, proposeMapping } from "@work-items/importer/proposals/propose-mapping.ts";
import type { Api } from "./api.ts";
import { type Answered, answersIn, type Checked, uncheckedColumns, ZONE_ANSWERED } from "./answers.ts";
import { checkRows } from "./check-rows.ts";
import { confirmedColumns, useFileIds } from "./file-ids.ts";
import { FileStep } from "./file-step.tsx";
import { MatchStep } from "./match-step.tsx";
import { summaryOf } from "./match-summary.tsx";
import { LEFT_OUT, type Repairs } from "@work-items/importer/files/repairs.ts";
import { type EarlierMapping, send, type Sent, triedBy } from "./send.ts";
import { countOf, sentenceOf, shownBytes } from "./shown.ts";
import { TIME_ZONE } from "./sources.ts";
import { keepTimeZone, keptTimeZone } from "./kept-zone.ts";
import { Steps } from "./steps.tsx";
import { surveyFile } from "./survey-file.ts";
import { readFile, type TableFile } from "./table-file.ts";
import { totalsOf, withoutRows } from "./left-out-rows.ts";

const NOTHING_CHECKED: Checked = new Set();
const NOTHING_PROPOSED: Proposal = { mapping: {}, columns: [] };
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

/** From a file to its import, one step on the screen. @param earlier the mapping to begin with, in place of a proposal */
export function ImportView({
  api,
  earlier,
  sent,
  job,
  onForget,
  onSent,
}: {
  readonly api: Api;
  readonly earlier: EarlierMapping | undefined;
  /** What was sent last, whose mapping may have changed since. */
  readonly sent: Sent | undefined;
  /** The job of a file that this page has sent, while it is looked at. */
  readonly job: { readonly isTrial: boolean; readonly view: ComponentChildren } | undefined;
  readonly onForget: () => void;
  readonly onSent: (sent: Sent) => void;
}) {
  const [table, setTable] = useState<TableFile>();
  const [isReading, setReading] = useState(false);
  const [mapping, setMapping] = useState<Mapping>({});
  const [proposal, setProposal] = useState<Proposal>(NOTHING_PROPOSED);
  const [begun, setBegun] = useState<Answered>({ mapping: {}, checked: NOTHING_CHECKED });
  const [checked, setChecked] = useState(NOTHING_CHECKED);
  const [error, setError] = useState<string>();
  const [sending, setSending] = useState<number>();
  const [step, setStep] = useState<"File" | "Match">("File");
  const [keptTotals, setKeptTotals] = useState(NO_ROWS);
  const scan = useRef<AbortController | undefined>(undefined);
  const [scanned, setScanned] = useState(0);
  const totals = useMemo(() => (table ? totalsOf(table, mapping) : []), [table, mapping]);
  const leftOut = useMemo(
    () => new Set(totals.flatMap(({ row }) => (keptTotals.has(row) ? [] : [row]))),
    [totals, keptTotals],
  );
  const imported = useMemo(() => table && withoutRows(table, leftOut), [table, leftOut]);
  const repairs: Repairs = useMemo(() => new Map([...leftOut].map((row) => [row, LEFT_OUT])), [leftOut]);
  const check = useMemo(() => (imported ? checkRows(imported, mapping) : undefined), [imported, mapping]);
  const ids = useFileIds(table, mapping, leftOut);
  const columns = useMemo(() => confirmedColumns(proposal.columns, mapping, ids), [proposal, mapping, ids]);
  const unchecked = table ? uncheckedColumns(table, mapping, columns, checked) : [];
  const canMatch = table !== undefined && !table.text?.format.doubt;

  const open = (next: "File" | "Match"): void => {
    setStep(next);
    // The step appears after this.
    setTimeout(() => document.querySelector<HTMLElement>(next === "File" ? "#file" : "#columns")?.focus());
  };
  const answer = (answered: Answered): void => {
    setMapping(answered.mapping);
    setChecked(answered.checked);
  };
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
    const proposed = earlier ? fitted(earlier, next) : proposeMapping({ ...seen, ...times });
    const known = earlier ? answersIn(seen, proposed.mapping) : zone === undefined ? NOTHING_CHECKED : ZONE_ANSWERED;
    setTable(seen);
    setProposal(proposed);
    setBegun({ mapping: proposed.mapping, checked: known });
    answer({ mapping: proposed.mapping, checked: known });
    setKeptTotals(NO_ROWS);
  };
  useEffect(() => {
    if (table === undefined) return;
    setStep("File");
    void read(table);
  }, [earlier]);
  useEffect(() => {
    if (sent && sent.table === table) setMapping(sent.mapping);
  }, [sent]);
  useEffect(() => {
    // After an import, the next one begins with its file.
    if (job?.isTrial === false) setStep("File");
  }, [job?.isTrial]);
  const take = (file: File): void => {
    setError(undefined);
    setReading(true);
    readFile(file)
      .then(async (next) => {
        await read(next);
        open(next.text?.format.doubt ? "File" : "Match");
      })
      .catch((caught: unknown) => {
        setTable(undefined);
        setReading(false);
        open("File");
        setError(sentenceOf(caught));
      });
  };
  /** The same file, read in another way; a question that was answered leads to the next step. */
  const readAgain = async (next: TableFile): Promise<void> => {
    const wasAsked = table?.text?.format.doubt !== undefined && !next.text?.format.doubt;
    await read(next);
    if (wasAsked) open("Match");
  };
  // What was sent last, if it was a trial of the whole file as it would be imported now.
  const trial = sent?.table === table && sent?.tried === triedBy({ mapping, repairs }) ? sent : undefined;
  const start = async (dryRun: boolean): Promise<void> => {
    if (!table) return;
    setError(undefined);
    setSending(0);
    try {
      const isChecked = unchecked.length === 0;
      await keepTimeZone(api, mapping);
      const { trialId, found } = trial ?? {};
      await send(api, { table, mapping, dryRun, isChecked, repairs, trialId, found }, onSent, setSending, earlier);
    } catch (caught) {
      setError(sentenceOf(caught));
    }
    setSending(undefined);
  };
  const parts = canMatch ? summaryOf(table, mapping, checked).map(({ text }) => text) : [];
  const lines = {
    ...(table && { File: `${table.name}, ${shownBytes(table.size)}, ${countOf(table.names.length, "column")}` }),
    ...(canMatch && { Match: parts.join(" · ") }),
    ...(trial && { Check: trial.found ?? "Trial run finished" }),
  };
  const fileStep = (
    <>
      <FileStep
        table={table}
        earlier={earlier}
        isReading={isReading}
        error={error}
        onFile={take}
        onRead={(next) => void readAgain(next)}
        onForget={onForget}
        onContinue={() => open("Match")}
      />
      {isReading && scanned > 0 && (
        <p role="status">
          Looking through the file… <progress value={scanned} aria-label="Part of the file that was looked through" />{" "}
          <button type="button" onClick={() => scan.current?.abort()}>
            Continue with the rows so far
          </button>
        </p>
      )}
    </>
  );
  return (
    <Steps
      current={job ? (job.isTrial ? "Check" : "Import") : step}
      lines={lines}
      onOpen={(next) => {
        if (next === "Check") location.hash = `#job=${trial?.trialId ?? ""}`;
        if (next !== "File" && next !== "Match") return;
        location.hash = "#import";
        open(next);
      }}
      contents={{
        File: fileStep,
        Match: canMatch && imported && check && (
          <MatchStep
            begun={begun}
            table={imported}
            mapping={mapping}
            proposed={columns}
            checked={checked}
            headerDoubt={proposal.headerDoubt}
            totals={{ totals, kept: keptTotals, onChange: setKeptTotals }}
            check={check}
            ids={ids}
            hasTried={trial !== undefined}
            unchecked={unchecked}
            error={error}
            sending={sending}
            onChange={setMapping}
            onAnswer={answer}
            onStart={(dryRun) => void start(dryRun)}
          />
        ),
        [job?.isTrial === true ? "Check" : "Import"]: job?.view,
      }}
    />
  );
}
