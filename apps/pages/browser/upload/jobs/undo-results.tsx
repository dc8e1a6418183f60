import type { ComponentChildren } from "preact";
import { readUndoRows, type UndoneRow, type UndoRows } from "@work-items/importer/checks/undone-rows.ts";
import { hasEnded } from "work-items-client/upload-calls.ts";
import type { Api, Job } from "../parts/api.ts";
import { EVENT_NAMES, labelOf, shownChoice, shownOrEmpty } from "../parts/field-names.ts";
import { doneIn, undoCountsOf } from "./job-progress.tsx";
import { Alert, Table } from "../parts/parts.tsx";
import { countOf, shownNumber } from "../parts/shown.ts";
import { ChangedRows } from "./trial-items.tsx";
import { UnfinishedRows } from "./trial-values.tsx";
import { useLoaded } from "../parts/use-calls.ts";

/** How many fields of a row are shown. */
const SHOWN_FIELDS = 20;

/** The reason of rows of which all was restored, although the item then has a completion date and isn’t completed. */
const NOT_COMPLETED = "not_completed";
/** Why something stays, in a table and in a sentence. */
const REASONS: Readonly<Record<string, readonly [short: string, long: string]>> = {
  changed: ["Changed since", "someone has changed values since"],
  in_use: ["Item changed since", "someone has made other changes since"],
  in_use_by_event: ["Event of the item changed since", "someone has changed events since"],
  forgotten: ["Too many later imports", "too many later imports made changes"],
  too_large: ["Too large to restore", "the result would be too large"],
};

/** The name of a kept field for people: `status`, `custom_attributes.<name>` or `events.<external_id>.<name>`. */
function labelOfKept(name: string): string {
  const [, event, field = ""] = /^events\.(?<event>.*)\.(?<field>\w+)$/su.exec(name) ?? [];
  return event === undefined ? labelOf(name) : `${EVENT_NAMES[field] ?? field} (event ${event})`;
}

/** The table's rows for a row of which something stays: one for each field. */
function rowsOf({ externalId, id, kept: { reason, fields } }: UndoRows["kept"][number]): ComponentChildren[][] {
  const names = Object.keys(fields);
  const link = <a href={`#item=${id}`}>{externalId}</a>;
  // Another row of the item has completed it.
  if (names.length === 0 && reason === NOT_COMPLETED) return [];
  const [why] = REASONS[reason] ?? [reason];
  if (names.length === 0) return [[link, "(whole item)", "", "", why]];
  const rows = names.slice(0, SHOWN_FIELDS).map((name) => {
    const { imported, now, status } = fields[name]!;
    const whyThis = imported === undefined ? "Not from this file" : why;
    const isOpen = status === undefined ? "" : `; status after the undo: ${shownChoice(status)}`;
    return [link, labelOfKept(name), shownOrEmpty(name, imported), shownOrEmpty(name, now), whyThis + isOpen];
  });
  const more = names.length - rows.length;
  return more === 0 ? rows : [...rows, [link, `and ${countOf(more, "other field")}`, "", "", why]];
}

/** Why rows stay: ", because someone has changed values since". There are no numbers if not all rows were read. */
function becauseOf({ reasons, isWhole }: UndoRows, outcome: UndoneRow["outcome"]): string {
  const found = [...(reasons.get(outcome) ?? [])].filter(([reason]) => reason !== NOT_COMPLETED);
  const parts = found.map(([reason, count]) => {
    const [, why] = REASONS[reason] ?? [reason, reason];
    return isWhole && found.length > 1 ? `${why} (${shownNumber(count)})` : why;
  });
  return parts.length === 0 ? "" : `, because ${parts.join("; ")}`;
}

/** Examples of what an undo does to items, and why. The numbers are above. */
function Outcomes({ job, rows }: { readonly job: Job; readonly rows: UndoRows }) {
  return (
    <ul class="outcomes">
      {undoCountsOf(job)
        .filter(({ count }) => count > 0)
        .map(({ outcome, name, count }) => {
          const named = (rows.examples.get(outcome) ?? []).filter(({ externalId }) => externalId !== "");
          // Of a row that failed there may be no item.
          const isGone = outcome === "unchanged" || (outcome === "deleted" && !job.dry_run);
          const valued = named.filter(({ changes }) => changes.length > 0);
          return (
            <li key={outcome}>
              <h2>
                {name}
                {becauseOf(rows, outcome)}
              </h2>
              {valued.length > 0 && <ChangedRows job={job} rows={valued} />}
              <span class="ids">
                {named
                  .filter((each) => !valued.includes(each))
                  .map(({ row, externalId, id }) =>
                    isGone ? (
                      <span key={row}>{externalId}</span>
                    ) : (
                      <a key={row} href={`#item=${id}`}>
                        {externalId}
                      </a>
                    ),
                  )}
                {named.length > 0 && count > named.length && `and ${shownNumber(count - named.length)} more`}
              </span>
            </li>
          );
        })}
    </ul>
  );
}

/** What an undo did to rows, or would do, and what stays, with both values of each field. @param children what comes next */
export function UndoResults({
  api,
  job,
  children,
}: {
  readonly api: Api;
  readonly job: Job;
  readonly children: ComponentChildren;
}) {
  const hasResults = hasEnded(job) && doneIn(job) > 0;
  const { value: rows, error } = useLoaded(
    async () => (hasResults ? readUndoRows(api.uploads.results(job.id)) : undefined),
    [hasResults],
  );
  const restoredButNamed = rows?.reasons.get("undone")?.get(NOT_COMPLETED) ?? 0;
  const stays = job.partly_undone_rows + job.kept_rows + restoredButNamed;
  return (
    <>
      <Alert text={error} />
      {rows && (
        <UnfinishedRows rows={rows.unfinishedRows}>
          {`Please check: after the undo, ${rows.isWhole ? "" : "at least "}`}
        </UnfinishedRows>
      )}
      {rows && <Outcomes job={job} rows={rows} />}
      {rows && rows.kept.length > 0 && (
        <section aria-labelledby="kept">
          <h2 id="kept">{job.dry_run ? "What would be kept" : "What was kept"}</h2>
          {rows.kept.length < stays && (
            <p>These are the first {countOf(rows.kept.length, "row")}; the results have all of them.</p>
          )}
          <Table
            caption="Kept values"
            kind="list"
            columns={["Item", "Field", "Value in the file", "Value now", "Why it’s kept"]}
            rows={rows.kept.flatMap(rowsOf)}
          />
        </section>
      )}
      {children}
    </>
  );
}
