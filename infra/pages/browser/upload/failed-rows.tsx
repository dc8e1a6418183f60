import { useEffect, useState } from "preact/hooks";
import { type FailedValues, readFailedValues } from "@work-items/importer/checks/failed-values.ts";
import type { Api, Job } from "./api.ts";
import { exampleOf } from "./check-rows.ts";
import { FailedValuesForm, isByValue, type Repairing } from "./failed-values-form.tsx";
import { Alert, Table } from "./parts.tsx";
import { RepairForm } from "./repair-form.tsx";
import { sentenceOf, shownNumber } from "./shown.ts";

interface Report extends FailedValues {
  readonly url: string;
}

async function readReport(api: Api, job: Job, names: readonly string[] | undefined): Promise<Report | undefined> {
  const list = await api.readList(job.id, "failed_rows");
  return list && { url: list.url, ...(await readFailedValues(list.content, job.mapping ?? {}, names)) };
}

/**
 * The rows of a job that failed, by what is wrong, and the whole list as a file.
 * @param repairing undefined if the page doesn't have the file any more
 */
export function FailedRows({
  api,
  job,
  repairing,
}: {
  readonly api: Api;
  readonly job: Job;
  readonly repairing: Repairing | undefined;
}) {
  const [report, setReport] = useState<Report>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    readReport(api, job, repairing?.names).then(setReport, (caught: unknown) => setError(sentenceOf(caught)));
  }, [api, job.id]);
  const rows = report?.rows ?? [];
  return (
    <section aria-labelledby="failed">
      <h2 id="failed">{job.dry_run ? "Rows that would fail" : "Rows that failed"}</h2>
      <Alert text={error} />
      {report && (
        <>
          {repairing ? (
            <>
              <FailedValuesForm {...repairing} values={report.values} />
              <RepairForm
                {...repairing}
                failed={rows.filter((row) => !isByValue(repairing.before, report.values, row))}
              />
            </>
          ) : (
            <Table
              caption="What is wrong"
              columns={["Rows", "Column", "Value", "Problem"]}
              rows={report.values.map((each) => [shownNumber(each.rows), each.column, each.value, exampleOf(each)])}
            />
          )}
          <p>
            <a href={report.url}>Download all failed rows ({shownNumber(job.failed_rows)}) as CSV</a>. Correct the
            values and import that file with the same mapping: the added columns are ignored.
          </p>
          <details>
            <summary>Show the {rows.length < report.count && `first ${rows.length} `}failed rows</summary>
            <Table
              caption={`The first ${rows.length} failed rows`}
              columns={["Row", "Column", "Value", "Problem", "The whole row"]}
              rows={rows.map((each) => [
                each.row,
                each.column,
                <span key="value" class="lines">
                  {each.value}
                </span>,
                exampleOf(each),
                <span key="cells" class="lines">
                  {each.cells.filter(Boolean).join(" · ")}
                </span>,
              ])}
            />
          </details>
        </>
      )}
    </section>
  );
}
