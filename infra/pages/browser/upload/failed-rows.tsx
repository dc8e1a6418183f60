import { useEffect, useState } from "preact/hooks";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { REPORT_COLUMNS } from "../../../../lib/uploads/csv/header-names.ts";
import { COMMA } from "../../../../lib/uploads/csv/delimiter.ts";
import type { Api, Job } from "./api.ts";
import { exampleOf } from "./check-rows.ts";
import { Alert, Table } from "./parts.tsx";
import { firstRows, isBlank } from "./read-text.ts";
import { RepairForm } from "./repair-form.tsx";
import { cellsInFile, type Repairs } from "@work-items/importer/files/repairs.ts";
import { sentenceOf, shownNumber } from "./shown.ts";

const SHOWN_ROWS = 100;
/** So much of a report is loaded to show its first rows. */
const LOADED_BYTES = 512 * 1024;

interface Report {
  readonly url: string;
  readonly rows: readonly (readonly string[])[];
}

/** Reads the beginning of a report; the rest of a long one is not loaded. */
async function readReport(url: string, job: Job): Promise<readonly (readonly string[])[]> {
  const response = await fetch(url);
  if (!response.ok || response.body === null) throw new Error("The failed rows cannot be loaded. Open this job again.");
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isWhole = false;
  while (size < LOADED_BYTES && !isWhole) {
    const { done, value } = await reader.read();
    isWhole = done;
    if (value) chunks.push(value);
    size += value?.length ?? 0;
  }
  await reader.cancel();
  const text = await new Blob(chunks as BlobPart[]).text();
  const headerRow = job.mapping?.header_row ?? 1;
  return firstRows(text, job.mapping?.delimiter ?? COMMA, SHOWN_ROWS + headerRow, isWhole).rows.slice(headerRow - 1);
}

/** Headings of the columns that the report adds. People are not shown its codes. */
const TITLES: Readonly<Record<string, string>> = {
  _row: "Row",
  _error: "Why",
  _error_column: "Column",
  _error_value: "Value",
};

/** What is required to correct rows in the page. */
export interface Repairing {
  /** The header of the file. */
  readonly names: readonly string[];
  readonly mapping: Mapping;
  readonly repairs: Repairs;
  readonly onRepair: (repairs: Repairs) => void;
}

/**
 * The rows of a job that failed, with the reasons, and the whole list as a file.
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
    const load = async (): Promise<void> => {
      const { data } = await api.get<{ readonly data: { readonly url: string | null } }>(
        `v1/work_items/upload/${job.id}/failed_rows`,
      );
      if (data.url !== null) setReport({ url: data.url, rows: await readReport(data.url, job) });
    };
    load().catch((caught: unknown) => setError(sentenceOf(caught)));
  }, [api, job.id]);

  const [header = [], ...lines] = report?.rows ?? [];
  const rows = lines.filter((row) => !isBlank(row));
  const rowAt = header.lastIndexOf("_row");
  const [errorAt, valueAt] = [header.lastIndexOf("_error"), header.lastIndexOf("_error_value")];
  const shown = (row: readonly string[], index: number): string =>
    index === errorAt ? exampleOf({ message: row[index] ?? "", value: row[valueAt] ?? "" }) : (row[index] ?? "");
  const order = [
    ...Object.keys(TITLES).map((name) => header.lastIndexOf(name)),
    ...header.keys().filter((index) => !REPORT_COLUMNS.includes(header[index] as never)),
  ].filter((index) => index >= 0);
  return (
    <section aria-labelledby="failed">
      <h3 id="failed">{job.dry_run ? "Rows that would fail" : "Rows that failed"}</h3>
      <Alert text={error} />
      {report && (
        <>
          {repairing && rowAt >= 0 && (
            <RepairForm
              {...repairing}
              failed={rows.map((row) => ({ row: Number(row[rowAt]), cells: cellsInFile(repairing.names, row) }))}
            />
          )}
          <p>
            <a href={report.url}>Download all {shownNumber(job.failed_rows)} as CSV</a>. Correct the values and import
            that file with the same mapping: the added columns are ignored.
          </p>
          <Table
            caption={`The first ${Math.min(SHOWN_ROWS, rows.length)} failed rows`}
            columns={order.map((index) => TITLES[header[index]!] ?? header[index]!)}
            rows={rows.map((row) => order.map((index) => shown(row, index)))}
          />
        </>
      )}
    </section>
  );
}
