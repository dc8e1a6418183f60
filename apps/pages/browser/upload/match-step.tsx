import { encodingName, UTF_8 } from "@work-items/importer/files/encodings.ts";
import type { CheckedRows } from "./check-rows.ts";
import { ColumnsForm, openColumn } from "./columns-form.tsx";
import { FileIdsNote, SheetNotes, TotalsForm, UndatedNote } from "./file-notes.tsx";
import { inTypographicQuotes } from "./field-names.ts";
import { IdForm } from "./id-form.tsx";
import { summaryOf } from "./match-summary.ts";
import { Alert, Button } from "./parts.tsx";
import { SettingsForm } from "./settings-form.tsx";
import { countOf, shownNumber } from "./shown.ts";
import type { Match } from "./use-import.ts";

/** What importing the first rows would do, in a sentence. */
function Outcome({ problem, rows, failed }: CheckedRows) {
  if (problem !== undefined) return <p class="alert">{problem}</p>;
  // A file without rows was rejected earlier. These rows have no value in an imported column.
  if (rows === 0) return <p>The first rows can’t be checked here. A trial run checks the whole file.</p>;
  if (failed === 0) {
    return (
      <p class="good">{rows === 1 ? "The first row has" : `The first ${shownNumber(rows)} rows have`} no errors.</p>
    );
  }
  return (
    <p class="unchecked">
      {shownNumber(failed)} of the first {countOf(rows, "row")} would fail. A trial run shows all of them, and lets you
      correct their values.
    </p>
  );
}

/** A link to a column of this step; only the text if there is no such column. */
function columnLink(text: string, index: number | undefined) {
  if (index === undefined) return text;
  return (
    <Button key={index} kind="plain" onClick={() => openColumn(index)}>
      {text}
    </Button>
  );
}

/** The second step: what the columns become, open questions, and the buttons that send the file. */
export function MatchStep({ match }: { readonly match: Match }) {
  const { table, mapping, headerDoubt, check, ids, unchecked, sending, hasTried, error, onStart } = match;
  const isDisabled = check.problem !== undefined || sending !== undefined;
  const encoding = table.text?.format.encoding ?? UTF_8;
  const open = unchecked.filter(({ isBeingCompared }) => !isBeingCompared);
  const importing = (kind: "main" | "plain", label: string) => (
    <Button
      kind={kind}
      disabled={isDisabled || unchecked.length > 0 || ids.part !== undefined}
      onClick={() => onStart(false)}
    >
      {label}
    </Button>
  );
  return (
    <section aria-labelledby="columns">
      <h2 id="columns" tabIndex={-1}>
        2. Match your columns
      </h2>
      <ul class="summary" aria-label="Summary">
        {summaryOf(match).map(({ text, index }) => (
          <li key={text}>{columnLink(text, index)}</li>
        ))}
      </ul>
      <datalist id="time-zones">
        {["UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      {headerDoubt !== undefined && <p class="unchecked">Please check: {inTypographicQuotes(headerDoubt)}.</p>}
      <SheetNotes table={table} />
      <IdForm match={match} />
      <TotalsForm match={match} />
      <UndatedNote table={table} mapping={mapping} />
      <ColumnsForm match={match} />
      <SettingsForm match={match} />
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
      {open.length > 0 && (
        <p class="unchecked">
          Check {countOf(open.length, "column")} before you import:{" "}
          {open.map(({ column, index }) => columnLink(column, index))}
        </p>
      )}
      <p class="buttons">
        {hasTried && importing("main", "Import")}
        <Button kind={hasTried ? undefined : "main"} disabled={isDisabled} onClick={() => onStart(true)}>
          {hasTried ? "Run the trial again" : "Run a trial"}
        </Button>
        {!hasTried && importing("plain", "Import without a trial")}
      </p>
      <p class="note">
        A trial run checks the whole file and shows what would be created, changed or rejected. Nothing is saved.
      </p>
    </section>
  );
}
