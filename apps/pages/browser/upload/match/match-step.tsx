import { FirstItems } from "./preview.tsx";
import { SheetNotes } from "./file-notes.tsx";
import { inTypographicQuotes } from "../parts/field-names.ts";
import { Alert, Button } from "../parts/parts.tsx";
import { countOf, shownNumber } from "../parts/shown.ts";
import { asRead } from "../file/table-file.ts";
import { Questions } from "./questions.tsx";
import type { Match } from "../file/use-import.ts";

/** What is wrong with the mapping, or with the first rows; nothing if nothing is. */
function Outcome({ check: { problem, rows, failed, example }, isAnswered }: Match) {
  if (problem !== undefined) return <p class="alert">{problem}</p>;
  // A file without rows was rejected earlier. These rows have no value in an imported column.
  if (rows === 0) return <p>The first rows can’t be checked here. A trial run checks the whole file.</p>;
  // Until all is answered, rows fail because of the questions.
  if (failed === 0 || !isAnswered) return null;
  return (
    <p class="unchecked">
      {shownNumber(failed)} of the first {countOf(rows, "row")} would fail: {example} A trial run shows all of them, and
      lets you correct their values.
    </p>
  );
}

/** The second step: what sets each target, open questions, and the buttons that send the file. */
export function MatchStep({ match }: { readonly match: Match }) {
  const { table, states, isAnswered, ids, fileDoubt, check, sending, trial, error, onTry } = match;
  const isDisabled =
    !isAnswered || ids.part !== undefined || check.problem !== undefined || sending !== undefined || match.isReading;
  // A missing ID is a question.
  const isIdMissing = states.some(({ target, state }) => target === "external_id" && state === "missing");
  // No answer helps until the file is corrected.
  const isBroken = table.problem !== undefined;
  const outcome = <div role="status">{(isBroken || !isIdMissing) && <Outcome {...match} />}</div>;
  return (
    <section aria-labelledby="columns">
      <h2 id="columns" tabIndex={-1}>
        2. Match your columns
      </h2>
      {isBroken && outcome}
      <datalist id="time-zones">
        {["UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      {fileDoubt !== undefined && <p class="unchecked">Please check: {inTypographicQuotes(fileDoubt)}.</p>}
      <SheetNotes table={table} />
      <div class="match">
        <Questions key={asRead(table).content} match={match} />
        {!isBroken && <FirstItems match={match} />}
        <div>
          {!isBroken && outcome}
          <Alert text={error} />
          {sending !== undefined && (
            <p role="status">
              Sending the file… <progress value={sending} aria-label="Part of the file that was sent" />
            </p>
          )}
          <p class="buttons next">
            {trial && (
              <a class="button main" href={`#job=${trial.id}`}>
                Continue to the check
              </a>
            )}
            <Button kind={trial ? undefined : "main"} disabled={isDisabled} onClick={onTry}>
              {trial ? "Run the trial again" : "Run a trial"}
            </Button>
          </p>
          <p class="note">
            {!isAnswered && "Answer the questions above first. "}A trial run checks the whole file and shows what would
            be created, changed or rejected. Nothing is saved.
          </p>
        </div>
      </div>
    </section>
  );
}
