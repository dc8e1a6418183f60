import { readFailedValues } from "./failed-values.ts";
import type { Api, Job } from "../parts/api.ts";
import { exampleOf } from "../file/check-rows.ts";
import { Alert, Table } from "../parts/parts.tsx";
import { FailedValuesForm, usedAs } from "./failed-values-form.tsx";
import type { Sent } from "../file/send.ts";
import { shownNumber } from "../parts/shown.ts";
import { useLoaded } from "../parts/use-calls.ts";

/** A job's failed rows, grouped by what is wrong, and the whole list as a file. */
export function FailedRows({
  api,
  job,
  sent,
  onSent,
}: {
  readonly api: Api;
  readonly job: Job;
  /** The trial's file, in which rows can be corrected; undefined if the page doesn't have it. */
  readonly sent: Sent | undefined;
  readonly onSent: (sent: Sent) => void;
}) {
  const { mapping: before = {} } = job;
  const { value: report, error } = useLoaded(async () => {
    const list = await api.failedRows(job.id);
    return list && { url: list.url, ...(await readFailedValues(list.content, before)) };
  });
  const { names = [], rows = [], values = [], count = 0, url = "" } = report ?? {};
  const replaceable = sent ? values.filter(({ column }) => usedAs(before, column)) : [];
  const others = values.filter((each) => !replaceable.includes(each));
  return (
    <section aria-labelledby="failed">
      <h2 id="failed">{job.dry_run ? "Rows that would fail" : "Rows that failed"}</h2>
      <Alert text={error} />
      {report && (
        <>
          {sent && <FailedValuesForm sent={sent} names={names} values={replaceable} onSent={onSent} />}
          {others.length > 0 && (
            <Table
              caption="What is wrong"
              kind="repairs"
              columns={["Rows", "Column", "Value", "Problem"]}
              rows={others.map((each) => [each.rows, each.column, each.value, exampleOf(each)])}
            />
          )}
          <p>
            <a href={url}>Download all failed rows ({shownNumber(job.failed_rows)}) as CSV</a>. Correct the values and
            import that file with the same mapping: the added columns are left out.
          </p>
          <details open={values.length === 0}>
            <summary>Show the {rows.length < count && `first ${rows.length} `}failed rows</summary>
            <Table
              caption="Failed rows"
              columns={["Row", "Column", "Value", "Problem", "The whole row"]}
              rows={rows.map((each) => [
                each.row,
                each.column,
                <span class="lines">{each.value}</span>,
                exampleOf(each),
                <span class="lines">{each.cells.filter(Boolean).join(" · ")}</span>,
              ])}
            />
          </details>
        </>
      )}
    </section>
  );
}
