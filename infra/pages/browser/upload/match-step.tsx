import { ColumnsForm, openColumn } from "./columns-form.tsx";
import type { Proposal } from "@work-items/importer/proposals/propose-mapping.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { encodingName, UTF_8 } from "@work-items/importer/files/encodings.ts";
import type { Answered, Checked, UncheckedColumn } from "./answers.ts";
import type { CheckedRows } from "./check-rows.ts";
import type { FileIds } from "./file-ids.ts";
import { IdForm } from "./id-form.tsx";
import { FileIdsNote } from "./id-notes.tsx";
import { MatchSummary, summaryOf } from "./match-summary.tsx";
import { Alert } from "./parts.tsx";
import { SettingsForm } from "./settings-form.tsx";
import { countOf, shownNumber } from "./shown.ts";
import type { TableFile } from "./table-file.ts";
import { TotalsForm, type TotalsFormProps } from "./totals-form.tsx";
import { UndatedNote } from "./undated-note.tsx";

/** Names the columns that a person has yet to look at, each a way to it. */
function Unchecked({ columns }: { readonly columns: readonly UncheckedColumn[] }) {
  if (columns.length === 0) return null;
  return (
    <p class="unchecked">
      Check {countOf(columns.length, "column")} before you import:{" "}
      {columns.map(({ column, index }) => (
        <button key={index} type="button" class="plain" onClick={() => openColumn(index)}>
          {column}
        </button>
      ))}
    </p>
  );
}

/** What the first rows come to, in a sentence. */
function Outcome({ problem, rows, failed }: CheckedRows) {
  if (problem !== undefined) return <p class="alert">{problem}</p>;
  if (rows === 0) return <p>This file has no rows.</p>;
  if (failed.length === 0) {
    return (
      <p class="good">{rows === 1 ? "The first row has" : `The first ${shownNumber(rows)} rows have`} no errors.</p>
    );
  }
  return (
    <p class="unchecked">
      {shownNumber(failed.length)} of the first {countOf(rows, "row")} would fail. A trial run shows all of them, and
      lets you correct their values.
    </p>
  );
}

/** The second step: what the columns are, what has to be answered, and the buttons that send the file. */
export function MatchStep({
  begun,
  table,
  mapping,
  proposed,
  checked,
  headerDoubt,
  totals,
  check,
  ids,
  hasTried,
  unchecked,
  error,
  sending,
  onChange,
  onAnswer,
  onStart,
}: {
  /** What was proposed. */
  readonly begun: Answered;
  /** The file without the rows that are left out. */
  readonly table: TableFile;
  readonly mapping: Mapping;
  readonly proposed: Proposal["columns"];
  readonly checked: Checked;
  /** Why the header may be a row of data. */
  readonly headerDoubt: string | undefined;
  readonly totals: TotalsFormProps;
  readonly check: CheckedRows;
  readonly ids: FileIds;
  /** Whether a trial of this file with this mapping has finished. */
  readonly hasTried: boolean;
  /** Columns that a person has yet to look at. */
  readonly unchecked: readonly UncheckedColumn[];
  /** Why the file was not sent. */
  readonly error: string | undefined;
  /** The part of the file that was sent, 0 to 1, while it is being sent. */
  readonly sending: number | undefined;
  readonly onChange: (mapping: Mapping) => void;
  readonly onAnswer: (answered: Answered) => void;
  readonly onStart: (dryRun: boolean) => void;
}) {
  const isDisabled = check.problem !== undefined || sending !== undefined;
  const encoding = table.text?.format.encoding ?? UTF_8;
  const form = { table, mapping, checked, onAnswer };
  const importing = (kind: "main" | "plain", label: string) => (
    <button
      type="button"
      class={kind}
      disabled={isDisabled || unchecked.length > 0 || ids.part !== undefined}
      onClick={() => onStart(false)}
    >
      {label}
    </button>
  );
  return (
    <section aria-labelledby="columns">
      <h2 id="columns" tabIndex={-1}>
        2. Match your columns
      </h2>
      <MatchSummary parts={summaryOf(table, mapping, checked)} onOpen={openColumn} />
      <datalist id="time-zones">
        {["UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      {headerDoubt !== undefined && <p class="unchecked">Please check: {headerDoubt}.</p>}
      <IdForm table={table} mapping={mapping} onChange={onChange} />
      <TotalsForm {...totals} />
      <UndatedNote table={table} mapping={mapping} />
      <ColumnsForm {...form} begun={begun} proposed={proposed} />
      <SettingsForm {...form} onChange={onChange} />
      {encoding !== UTF_8 && <p class="note">We’ll convert the file from {encodingName(encoding)} to UTF-8.</p>}
      <div role="status">
        <Outcome {...check} />
      </div>
      {check.problem === undefined && <FileIdsNote {...ids} />}
      <Alert text={error} />
      {sending !== undefined && (
        <p role="status">
          Sending the file… <progress value={sending} aria-label="Part of the file that was sent" />
        </p>
      )}
      <Unchecked columns={unchecked.filter(({ isBeingCompared }) => !isBeingCompared)} />
      <p class="buttons">
        {hasTried && importing("main", "Import")}
        <button type="button" class={hasTried ? undefined : "main"} disabled={isDisabled} onClick={() => onStart(true)}>
          {hasTried ? "Run the trial again" : "Run a trial"}
        </button>
        {!hasTried && importing("plain", "Import without a trial")}
      </p>
      <p class="note">
        A trial run checks the whole file and shows what would be created, changed or rejected. Nothing is saved.
      </p>
    </section>
  );
}
