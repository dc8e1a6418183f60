import type { ComponentChildren } from "preact";
import {
  type CountedValue,
  type FieldValues,
  type ResultingFindings,
  ResultingValues,
  VALUES_MAX,
} from "@work-items/importer/checks/resulting-values.ts";
import { mappedReader } from "@work-items/lib/uploads/mapping/mapped-columns.ts";
import type { Job } from "../parts/api.ts";
import { shownChoice } from "../parts/field-names.ts";
import { Facts } from "../parts/parts.tsx";
import type { Sent } from "../file/send.ts";
import { observeTable, withoutRows } from "../file/table-file.ts";
import { countOf, shownNumber, shownPart, shownTime } from "../parts/shown.ts";

/** What is known of the values of a file. */
export interface FileValues {
  /** The part of the file that has been read, 0 to 1; undefined at its end. */
  readonly part: number | undefined;
  readonly findings?: ResultingFindings;
}

/** Reads the whole file of a trial. */
export async function readValues(
  { mapping = {} }: Job,
  sent: Sent,
  signal: AbortSignal,
  show: (values: FileValues) => void,
): Promise<FileValues> {
  const values = new ResultingValues(mappedReader(mapping, sent.table.names), new Date().toISOString());
  const tried = withoutRows(sent.table, sent.leftOut);
  await observeTable(tried, () => [values], { signal, onPart: (part) => show({ part }) });
  return { part: undefined, findings: values.findings };
}

function emptyIn(emptyRows: number, rows: number): string {
  return emptyRows === rows ? "Not in this file" : `Empty in ${countOf(emptyRows, "row")}`;
}

/** The most frequent values of a field. */
function Values({
  title,
  values: { values, otherRows, different, emptyRows },
  of,
  shown = (value) => value,
  empty,
  children,
}: {
  readonly title: string;
  readonly values: FieldValues;
  /** Number of all rows. */
  readonly of: number;
  readonly shown?: (value: string) => string;
  /** What it means that the file has no value. */
  readonly empty: string;
  readonly children?: ComponentChildren;
}) {
  const others =
    different === undefined
      ? `More than ${shownNumber(VALUES_MAX)} others`
      : `${shownNumber(different - values.length)} others`;
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <Facts
        kind="values"
        facts={[
          ...values.map(([value, rows]) => [shown(value), shownNumber(rows)] as const),
          ...(otherRows > 0 ? [[others, shownNumber(otherRows), "note"] as const] : []),
        ]}
      />
      {emptyRows > 0 && (
        <p class="note">
          {emptyIn(emptyRows, of)}
          {empty}
        </p>
      )}
      {children}
    </figure>
  );
}

/** The earliest and the latest completion. */
function Completion({ completion, rows }: Pick<ResultingFindings, "completion" | "rows">) {
  const { earliest, latest, emptyRows } = completion;
  return (
    <figure>
      <figcaption>Completed at</figcaption>
      {earliest !== undefined && latest !== undefined && (
        <Facts
          kind="values"
          facts={[
            ["Earliest", shownTime(earliest)],
            ["Latest", shownTime(latest)],
          ]}
        />
      )}
      {emptyRows > 0 && <p class="note">{emptyIn(emptyRows, rows)}.</p>}
    </figure>
  );
}

/** Rows with a completion date that aren't completed, by status. @param children what comes before */
export function UnfinishedRows({
  rows,
  children = "Please check: ",
}: {
  readonly rows: readonly CountedValue[];
  readonly children?: string;
}) {
  const unfinished = rows.reduce((sum, [, count]) => sum + count, 0);
  const statuses = rows.map(([status, count]) => `${shownNumber(count)} ${shownChoice(status)}`);
  if (unfinished === 0) return null;
  return (
    <p class="unchecked">
      {children}
      {countOf(unfinished, "row")} {unfinished === 1 ? "has" : "have"} a completion date but{" "}
      {unfinished === 1 ? "isn’t" : "aren’t"} completed ({statuses.join(", ")}).
    </p>
  );
}

/** What contradicts itself in rows. */
export function Contradictions({
  completion: { futureRows, latest = "" },
  undatedRows,
  unfinishedRows,
}: Pick<ResultingFindings, "completion" | "undatedRows" | "unfinishedRows">) {
  return (
    <>
      {futureRows > 0 && (
        <p class="unchecked">
          Please check: {countOf(futureRows, "row")} would be completed in the future, the latest at {shownTime(latest)}
          .
        </p>
      )}
      {undatedRows > 0 && (
        <p class="unchecked">
          Please check: {countOf(undatedRows, "row")} {undatedRows === 1 ? "is" : "are"} completed but{" "}
          {undatedRows === 1 ? "has" : "have"} no completion date.
        </p>
      )}
      <UnfinishedRows rows={unfinishedRows} />
    </>
  );
}

/** The values that the rows of the whole file become. @param values those read so far; undefined at first */
export function TrialValues({ job, values }: { readonly job: Job; readonly values: FileValues | undefined }) {
  const { part, findings } = values ?? { part: 0 };
  const hasChanges = job.updated_rows + job.unchanged_rows + job.restored_rows > 0;
  const byDefault = `. New items get the value above${hasChanges ? "; existing ones keep theirs" : ""}.`;
  return (
    <section aria-labelledby="values">
      <h2 id="values">Values in {findings ? countOf(findings.rows, "row") : "the file"}</h2>
      <p role="status">{part !== undefined && `Reading the whole file, ${shownPart(part)} so far…`}</p>
      {findings && (
        <div class="charts">
          <Values title="Status" values={findings.status} of={findings.rows} shown={shownChoice} empty={byDefault} />
          <Values title="Type" values={findings.type} of={findings.rows} empty={byDefault} />
          <Values title="Agent" values={findings.agent} of={findings.rows} empty="." />
          <Completion {...findings} />
        </div>
      )}
    </section>
  );
}
