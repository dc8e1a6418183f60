import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { Upload } from "@aws-sdk/lib-storage";
import { MEMORY_MB, nodeOptionsFor } from "../../infra/constructs/function-memory.ts";
import { createS3Client } from "../../lib/aws/s3-client.ts";
import { withEngines } from "./engines.ts";
import { type BenchRow, factOf } from "./row.ts";
import { csvOf } from "./uploads-data.ts";
import type { Comparison, Finished, Ready } from "./uploads-process.ts";

const SECTION = "uploads";
const SIZES = [10_000, 100_000, 1_000_000] as const;
const FLAT_WITHIN_MB = 64;
const TEN_ROWS_WITHIN_MS = 1000;
const MAPPED_WITHIN = 1.3;
const BARE_WITHIN = 1.5;
/** Below the S3 engine's limit of 11 MiB for a body. */
const PIECE_BYTES = 8 * 1024 * 1024;

const PROCESS = fileURLToPath(new URL("uploads-process.ts", import.meta.url));

/** Starts the functions' process with the heap limits that the template sets for the workers. */
const start = (mode: "compare" | "file"): ChildProcess => {
  const execArgv = nodeOptionsFor(MEMORY_MB.computes).split(" ");
  return fork(PROCESS, [mode], { execArgv, stdio: ["ignore", "ignore", "inherit", "ipc"] });
};

const messageFrom = async <T>(child: ChildProcess): Promise<T> => {
  const ended = new AbortController();
  child.once("exit", () => ended.abort());
  const [message] = (await once(child, "message", { signal: ended.signal })) as [T];
  return message;
};

const end = async (child: ChildProcess): Promise<void> => {
  const exit = once(child, "exit");
  child.disconnect();
  await exit;
};

const compare = async (): Promise<Comparison> => {
  const child = start("compare");
  const comparison = await messageFrom<Comparison>(child);
  await end(child);
  return comparison;
};

/** Runs the workers in a new process on a file with this many rows. */
const runFile = async (rows: number): Promise<Finished> => {
  const child = start("file");
  const { bucket, key } = await messageFrom<Ready>(child);
  const s3 = createS3Client({ S3_FORCE_PATH_STYLE: true });
  const params = { Bucket: bucket, Key: key, Body: Readable.from(csvOf(rows)) };
  await new Upload({ client: s3, params, partSize: PIECE_BYTES, queueSize: 1 }).done();
  child.send("go");
  const finished = await messageFrom<Finished>(child);
  await end(child);
  if (finished.succeeded !== rows) throw new Error(`${finished.succeeded} of ${rows} rows were applied`);
  return finished;
};

const fact = (name: string, value: number, unit: string): BenchRow => factOf({ section: SECTION, name, value, unit });
const beside = (name: string, value: number, unit: string, floor: number): BenchRow => ({
  ...fact(name, value, unit),
  floor,
  ratio: value / floor,
});
const goal = (
  row: Pick<BenchRow, "name" | "value" | "unit" | "goal" | "holds"> & { readonly floor: number },
): BenchRow => ({ section: SECTION, ...row, ratio: row.value / row.floor });

const comparisonRows = ({ csv, quotedCsv, mappedCsv, batch, bareWrites, tenRowsMs }: Comparison): BenchRow[] => [
  goal({
    name: "CSV rows a second",
    value: csv.perSecond,
    unit: "rows/s",
    floor: batch.perSecond,
    goal: "≥ 1.0 × the batch endpoint's items a second",
    holds: csv.perSecond >= batch.perSecond,
  }),
  goal({
    name: "client CPU per 1,000 rows",
    value: csv.cpuMs,
    unit: "ms",
    floor: batch.cpuMs,
    goal: "≤ the batch endpoint's",
    holds: csv.cpuMs <= batch.cpuMs,
  }),
  goal({
    name: "client CPU per 1,000 rows, beside the writes alone",
    value: csv.cpuMs,
    unit: "ms",
    floor: bareWrites.cpuMs,
    goal: `≤ ${BARE_WITHIN} × the same writes by the bare SDK`,
    holds: csv.cpuMs <= BARE_WITHIN * bareWrites.cpuMs,
  }),
  beside("CSV rows a second, every cell in quotes", quotedCsv.perSecond, "rows/s", batch.perSecond),
  beside("client CPU per 1,000 rows, every cell in quotes", quotedCsv.cpuMs, "ms", batch.cpuMs),
  goal({
    name: "client CPU per 1,000 rows, with a mapping",
    value: mappedCsv.cpuMs,
    unit: "ms",
    floor: csv.cpuMs,
    goal: `≤ ${MAPPED_WITHIN} × without`,
    holds: mappedCsv.cpuMs <= MAPPED_WITHIN * csv.cpuMs,
  }),
  goal({
    name: "time to completed of a 10-row file",
    value: tenRowsMs,
    unit: "ms",
    floor: TEN_ROWS_WITHIN_MS,
    goal: `< ${TEN_ROWS_WITHIN_MS} ms`,
    holds: tenRowsMs < TEN_ROWS_WITHIN_MS,
  }),
];

const measureUploads = async (): Promise<BenchRow[]> => {
  const rows = comparisonRows(await compare());
  let smallest: number | undefined;
  for (const size of SIZES) {
    const { peakMb, perSecond } = await runFile(size);
    smallest ??= peakMb;
    rows.push(
      fact(`rows a second at ${size.toLocaleString("en")} rows`, perSecond, "rows/s"),
      goal({
        name: `peak memory at ${size.toLocaleString("en")} rows`,
        value: peakMb,
        unit: "MB",
        floor: smallest,
        goal: `within ${FLAT_WITHIN_MB} MB of ${SIZES[0].toLocaleString("en")} rows`,
        holds: peakMb - smallest <= FLAT_WITHIN_MB,
      }),
    );
  }
  return rows;
};

/** Measures CSV against the batch endpoint, the time for a small file, and memory by file size. */
export const measure = (): Promise<BenchRow[]> => withEngines(measureUploads);
