import type { UncheckedColumn } from "./answers.ts";
import { type CheckedRows, exampleOf } from "./check-rows.ts";
import { idOfColumn } from "./columns-form.tsx";
import type { FileIds } from "./file-ids.ts";
import { FileIdsNote } from "./id-notes.tsx";
import { Alert, Table } from "./parts.tsx";
import { countOf, shownNumber } from "./shown.ts";

const SHOWN_ERRORS = 10;

/** Names the columns that a person has yet to look at, each a way to it. */
function Unchecked({ columns }: { readonly columns: readonly UncheckedColumn[] }) {
  if (columns.length === 0) return null;
  return (
    <p class="unchecked">
      Check {countOf(columns.length, "column")} before you import:{" "}
      {columns.map(({ column, index }) => (
        <button
          key={index}
          type="button"
          class="plain"
          onClick={() => document.querySelector<HTMLElement>(`#${idOfColumn(index)} select`)?.focus()}
        >
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
    <p class="alert">
      {shownNumber(failed.length)} of the first {countOf(rows, "row")} would fail. The others would be imported.
    </p>
  );
}

/** The last step: what the first rows would become, and the buttons that send the file. */
export function CheckStep({
  check,
  ids,
  trial,
  unchecked,
  error,
  sending,
  onStart,
}: {
  readonly check: CheckedRows;
  readonly ids: FileIds;
  /** Id of the trial of this file with this mapping that has finished; undefined if none has. */
  readonly trial: string | undefined;
  /** Columns that a person has yet to look at. */
  readonly unchecked: readonly UncheckedColumn[];
  /** Why the file was not sent. */
  readonly error: string | undefined;
  /** The part of the file that was sent, 0 to 1, while it is being sent. */
  readonly sending: number | undefined;
  readonly onStart: (dryRun: boolean) => void;
}) {
  const isDisabled = check.problem !== undefined || sending !== undefined;
  const importing = (kind: "main" | undefined, label: string) => (
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
    <section aria-labelledby="check">
      <h2 id="check">3. Check and import</h2>
      <div role="status">
        <Outcome {...check} />
      </div>
      {check.failed.length > 0 && (
        <Table
          caption="Rows that would fail"
          columns={["Row", "Column", "Value", "Why"]}
          rows={check.failed
            .slice(0, SHOWN_ERRORS)
            .map(({ row, error: wrong }) => [row, wrong.column, wrong.value, exampleOf(wrong)])}
        />
      )}
      {check.problem === undefined && <FileIdsNote {...ids} />}
      <Alert text={error} />
      {sending !== undefined && (
        <p role="status">
          Sending the file… <progress value={sending} aria-label="Part of the file that was sent" />
        </p>
      )}
      <Unchecked columns={unchecked.filter(({ isBeingCompared }) => !isBeingCompared)} />
      <p class="buttons">
        {trial !== undefined && importing("main", "Import")}
        <button
          type="button"
          class={trial === undefined ? "main" : undefined}
          disabled={isDisabled}
          onClick={() => onStart(true)}
        >
          {trial === undefined ? "Run a trial" : "Run the trial again"}
        </button>
        {trial === undefined && importing(undefined, "Import without a trial")}
      </p>
      {trial === undefined ? (
        <p class="note">
          A trial run checks the whole file and shows what would be created, changed or rejected. Nothing is saved.
        </p>
      ) : (
        <p class="note">
          The trial run of this file has finished: <a href={`#job=${trial}`}>see what would be imported</a>.
        </p>
      )}
    </section>
  );
}
