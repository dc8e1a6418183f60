import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { cleaningFor, type IdCleaning, idColumn } from "@work-items/importer/ids/clean-ids.ts";
import { type Proposal, proposeMapping } from "@work-items/importer/proposals/propose-mapping.ts";
import { totalsIn } from "@work-items/importer/proposals/survey.ts";
import { sourcesOf, targetsIn, targetStates } from "@work-items/importer/proposals/target-states.ts";
import { COMMA } from "@work-items/lib/uploads/csv/delimiter.ts";
import type { Mapping } from "@work-items/lib/uploads/mapping/mapping.ts";
import { type Answered, answersIn, areGroupsAsked, localTimesOf, openQuestions, unreadTimes } from "./answers.ts";
import { type Api, type Job, sentenceOf } from "../parts/api.ts";
import { checkRows } from "./check-rows.ts";
import { useFileIds } from "./file-ids.ts";
import { remember, rememberedZone, withRemembered } from "./remembered.ts";
import { send, type Sent, triedBy } from "./send.ts";
import { TIME_ZONE } from "./sources.ts";
import { isOpen } from "./target-questions.ts";
import {
  GONE,
  isAsked,
  isGone,
  readFile,
  surveyFile,
  type SurveyedTable,
  type TableFile,
  unfilled,
  withCleanIds,
  withFilledColumns,
  withoutRows,
} from "./table-file.ts";

const NOTHING_SAID: Answered = { mapping: {}, checked: new Set(), decisions: {}, remembered: new Set() };
const NO_ROWS: ReadonlySet<number> = new Set();
const FIRST_STEP = { name: "File", takesFocus: false } as const;
/** Why a scan of the file ends early: another file, or another way to read it, replaces it. */
const REPLACED = "replaced";

/** Where an import starts, and where it goes. */
export interface ImportProps {
  readonly api: Api;
  /** The import whose mapping is used instead of a proposal. */
  readonly earlier: Job | undefined;
  /** Called to continue without it. */
  readonly onForget: () => void;
  /** What was sent last, whose mapping may have changed since. */
  readonly sent: Sent | undefined;
  readonly onSent: (sent: Sent) => void;
}

/** An earlier mapping, for a file that may have another delimiter or its header in another row. */
function fitted({ mapping = {} }: Job, { delimiter, headerRow }: TableFile): Proposal {
  const { delimiter: _, header_row: __, ...others } = mapping;
  const layout = { ...(headerRow !== 1 && { header_row: headerRow }), ...(delimiter !== COMMA && { delimiter }) };
  const isSame = (mapping.delimiter ?? COMMA) === delimiter && (mapping.header_row ?? 1) === headerRow;
  return { mapping: isSame ? mapping : { ...others, ...layout }, columns: [] };
}

/** A file as it is read, what is proposed for it or was mapped earlier, and the answers before a person changes something. */
function openedWith(api: Api, table: SurveyedTable, earlier: Job | undefined) {
  // Only a suggestion: this file may come from another system.
  const timeZone = rememberedZone(api, table) ?? TIME_ZONE;
  const proposal = earlier ? fitted(earlier, table) : proposeMapping({ ...table, timeZone, now: Date.now() });
  const { mapping } = proposal;
  if (!earlier) return { table, proposal, initial: withRemembered(api, table, { ...NOTHING_SAID, mapping }) };
  // What that mapping leaves empty was decided for the file before.
  const targets = targetsIn(mapping);
  const decisions = Object.fromEntries(
    targets.map((target) => {
      const isSet = sourcesOf(target, { names: table.names, mapping }).length > 0;
      return [target, isSet ? "as mapped" : "left"] as const;
    }),
  );
  const known = { checked: answersIn(table, mapping), decisions, remembered: new Set(targets) };
  return { table, proposal, initial: { mapping, ...known } };
}

/** Which rows of a file hold totals, and which are left out because no one keeps them. */
function useLeftOut(table: SurveyedTable | undefined, mapping: Mapping) {
  const [keptTotals, keepTotals] = useState(NO_ROWS);
  const before = table && unfilled(table);
  const totals = useMemo(
    () => (before ? totalsIn(before.survey, before.names, mapping) : []),
    [before, JSON.stringify(mapping.fields?.["external_id"])],
  );
  const leftOut = useMemo(
    () => new Set(totals.map(({ row }) => row).filter((row) => !keptTotals.has(row))),
    [totals, keptTotals],
  );
  const imported = useMemo(() => table && withoutRows(table, leftOut), [table, leftOut]);
  return { totals, keptTotals, keepTotals, leftOut, imported };
}

/** Tries a file. `sending` is the part of it, 0 to 1, that has been sent while it is sent. */
function useSending(
  { api, earlier, sent, onSent }: Omit<ImportProps, "onForget">,
  { table, answered, leftOut }: { table: SurveyedTable | undefined; answered: Answered; leftOut: ReadonlySet<number> },
  setError: (error: string | undefined) => void,
) {
  const [sending, setSending] = useState<number>();
  const { mapping } = answered;
  // The last trial, if it tried the file as it would be imported now.
  const trial = sent?.table === table && sent?.trial?.of === triedBy({ mapping, leftOut }) ? sent.trial : undefined;
  const start = async (): Promise<void> => {
    if (!table) return;
    setError(undefined);
    setSending(0);
    try {
      remember(api, table, answered);
      await send(api, { table, mapping, dryRun: true, leftOut }, onSent, setSending, earlier);
    } catch (caught) {
      setError(sentenceOf(caught));
    }
    setSending(undefined);
  };
  return { trial, sending, start };
}

/** The state of an import, from a file to what is sent. @param isImported whether the page shows the file's import */
export function useImport({ api, earlier, onForget, sent, onSent }: ImportProps, isImported: boolean) {
  const [opened, setOpened] = useState<Omit<ReturnType<typeof openedWith>, "initial">>();
  const [answered, answer] = useState(NOTHING_SAID);
  const { mapping, checked, decisions } = answered;
  const [error, setError] = useState<string>();
  const [step, setStep] = useState<{ readonly name: "File" | "Match"; readonly takesFocus: boolean }>(FIRST_STEP);
  /** The part of the file, 0 to 1, that has been read while it is read. */
  const [scanned, setScanned] = useState<number>();
  const scan = useRef<AbortController>(undefined);
  /** The file that was chosen last. */
  const source = useRef<File>(undefined);
  const { table, proposal } = opened ?? {};
  const change = (next: Mapping): void => answer((known) => ({ ...known, mapping: next }));

  const { leftOut, imported, ...rows } = useLeftOut(table, mapping);
  const check = useMemo(() => imported && checkRows(imported, mapping), [imported, mapping]);
  const ids = useFileIds(imported, mapping);
  const { trial, sending, start } = useSending({ api, earlier, sent, onSent }, { table, answered, leftOut }, setError);

  const open = (name: "File" | "Match"): void => setStep({ name, takesFocus: true });
  /**
   * Reads a file, then proposes a mapping.
   * @param isSame whether it has the same columns and rows, so that all answers stay
   * @returns undefined if the file can't be read, or was replaced in the meantime
   */
  const read = async (file: TableFile | Promise<TableFile>, isSame = false): Promise<TableFile | undefined> => {
    setError(undefined);
    scan.current?.abort(REPLACED);
    const { signal } = (scan.current = new AbortController());
    setScanned(0);
    try {
      const next = await file;
      const surveyed = await surveyFile(next, { signal, onPart: setScanned });
      if (signal.reason === REPLACED) return undefined;
      const { initial, ...nextOpened } = openedWith(api, surveyed, earlier);
      setScanned(undefined);
      setOpened(nextOpened);
      if (isSame) return next;
      answer(initial);
      rows.keepTotals(NO_ROWS);
      return next;
    } catch (caught) {
      const hasChanged = await isGone(source.current!);
      if (signal.reason === REPLACED) return undefined;
      setOpened(undefined);
      setScanned(undefined);
      open("File");
      setError(hasChanged ? GONE : sentenceOf(caught));
      return undefined;
    }
  };
  const take = async (file: File): Promise<void> => {
    source.current = file;
    const next = await read(readFile(file));
    if (next) open(isAsked(next) ? "File" : "Match");
  };
  /** Reads the same file in another way. If that answers the last question, opens the next step. */
  const readAgain = async (file: TableFile | Promise<TableFile>): Promise<void> => {
    const wasAsked = table !== undefined && isAsked(table);
    const next = await read(file);
    if (wasAsked && next && !isAsked(next)) open("Match");
  };
  const fill = (indexes: readonly number[]): void => {
    if (table) void read(withFilledColumns(table, indexes, leftOut), true);
  };
  const clean = (cleaning: IdCleaning | undefined): void => {
    if (table) void read(withCleanIds(table, cleaning), true);
  };
  useEffect(() => {
    if (table === undefined || scanned !== undefined) return;
    const column = idColumn(mapping, table.names);
    const cleaning = cleaningFor(column, ids.findings ?? table.survey.ids.get(column));
    if (table.cleaned ? table.cleaned.column !== column : cleaning) clean(cleaning);
  }, [table, ids.findings, scanned]);
  useEffect(() => {
    const { filled } = table ?? {};
    // Other rows are items now.
    if (filled && filled.others.symmetricDifference(leftOut).size > 0) fill(filled.columns);
  }, [table, leftOut]);
  useEffect(() => {
    if (table === undefined) return;
    setStep(FIRST_STEP);
    void read(unfilled(table));
  }, [earlier]);
  useEffect(() => {
    // Its trial may have ended since the mapping was changed here.
    if (sent && sent.table === table) change(sent.mapping);
  }, [sent?.mapping]);
  useEffect(() => {
    // After an import, the next one starts with its file.
    if (isImported) setStep(FIRST_STEP);
  }, [isImported]);

  const states = useMemo(() => {
    if (table === undefined) return [];
    const { names, survey } = table;
    // The time zone is a question of its own.
    const questions = openQuestions(table, mapping, checked).filter(({ kind }) => kind === "date");
    const { columns = [] } = proposal ?? {};
    const unread = unreadTimes(table, mapping);
    return targetStates({ names, survey, mapping, columns, questions, unread, decisions });
  }, [opened, answered]);
  const localTimes = table === undefined ? [] : localTimesOf(table, answered);
  const isFillAsked = opened !== undefined && areGroupsAsked(unfilled(opened.table), answered);
  const isAnswered = !states.some(isOpen) && !localTimes.some((each) => each.isAsked) && !isFillAsked;
  const match = opened &&
    imported &&
    check &&
    !isAsked(opened.table) && {
      ...answered,
      /** The file without the rows that are left out. */
      table: imported,
      /** What sets each target of the import, or what is asked about it. */
      states,
      localTimes,
      isFillAsked,
      /** Whether no question is open. */
      isAnswered,
      fileDoubt: opened.proposal.fileDoubt,
      ...rows,
      /** The table before columns are filled down. */
      fillable: unfilled(opened.table),
      /** Whether the file is being read in another way. */
      isReading: scanned !== undefined,
      check,
      ids,
      sending,
      /** The last trial, if nothing has changed since. */
      trial,
      /** Why the file wasn't sent. */
      error,
      // Only what was answered: forms make the next answers of all that they were given.
      onAnswer: ({ mapping: next, checked: asked, decisions: decided, remembered }: Answered) =>
        answer({ mapping: next, checked: asked, decisions: decided, remembered }),
      onChange: change,
      onFill: fill,
      onClean: clean,
      onTry: () => void start(),
    };
  return {
    step,
    open,
    table,
    /** Why the file can't be read. */
    error,
    scanned,
    /** Ends the reading, so that the rows read so far decide the proposal. */
    stopScan: () => scan.current?.abort(),
    take,
    readAgain,
    earlier,
    onForget,
    trial,
    /** The file whose columns are matched; undefined while there is none. */
    match: match || undefined,
  };
}

/** A file whose columns are matched. */
export type Match = NonNullable<ReturnType<typeof useImport>["match"]>;
