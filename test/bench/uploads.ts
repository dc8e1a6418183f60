import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { Upload } from "@aws-sdk/lib-storage";
import { MEMORY_MB, nodeOptionsFor } from "../../infra/limits.ts";
import { createS3Client } from "../../lib/aws/s3-client.ts";
import { withEngines } from "./engines.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { csvOf } from "./uploads-data.ts";
import type { Comparison, Finished, Ready, Undone } from "./uploads-process.ts";

const { atMost, beside, fact, within } = rowsOf("uploads");
const SIZES = [10_000, 100_000, 1_000_000] as const;
const UNDO_SIZES = [10_000, 100_000] as const;
const UNDO_AT_LEAST = 0.5;
const FLAT_WITHIN_MB = 64;
const TEN_ROWS_WITHIN_MS = 1000;
const MAPPED_WITHIN = 1.3;
const BARE_WITHIN = 1.5;
/** Below the S3 engine's limit of 11 MiB for a body. */
const PIECE_BYTES = 8 * 1024 * 1024;

const PROCESS = fileURLToPath(new URL("uploads-process.ts", import.meta.url));

/** Starts the functions' process with the heap limits that the template sets for the workers. */
const start = (mode: "compare" | "file" | "undo"): ChildProcess => {
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

/** Puts the file that a process waits for into the bucket. */
const sendFile = async (child: ChildProcess, lines: Iterable<string>): Promise<void> => {
  const { bucket, key } = await messageFrom<Ready>(child);
  const s3 = createS3Client({ S3_FORCE_PATH_STYLE: true });
  const params = { Bucket: bucket, Key: key, Body: Readable.from(lines) };
  await new Upload({ client: s3, params, partSize: PIECE_BYTES, queueSize: 1 }).done();
  child.send("go");
};

/** Runs the workers in a new process on a file with this many rows. */
const runFile = async (rows: number): Promise<Finished> => {
  const child = start("file");
  await sendFile(child, csvOf(rows));
  const finished = await messageFrom<Finished>(child);
  await end(child);
  if (finished.succeeded !== rows) throw new Error(`${finished.succeeded} of ${rows} rows were applied`);
  return finished;
};

const comparisonRows = ({ csv, quotedCsv, mappedCsv, batch, bareWrites, tenRowsMs }: Comparison): BenchRow[] => [
  {
    ...beside("CSV rows a second", csv.perSecond, "rows/s", batch.perSecond),
    goal: "≥ 1.0 × the batch endpoint's items a second",
    holds: csv.perSecond >= batch.perSecond,
  },
  atMost("client CPU per 1,000 rows", csv.cpuMs, "ms", 1, batch.cpuMs, "the batch endpoint's"),
  atMost(
    "client CPU per 1,000 rows, beside the writes alone",
    csv.cpuMs,
    "ms",
    BARE_WITHIN,
    bareWrites.cpuMs,
    "the same writes by the bare SDK",
  ),
  beside("CSV rows a second, every cell in quotes", quotedCsv.perSecond, "rows/s", batch.perSecond),
  beside("client CPU per 1,000 rows, every cell in quotes", quotedCsv.cpuMs, "ms", batch.cpuMs),
  atMost("client CPU per 1,000 rows, with a mapping", mappedCsv.cpuMs, "ms", MAPPED_WITHIN, csv.cpuMs, "without"),
  within("time to completed of a 10-row file", tenRowsMs, "ms", TEN_ROWS_WITHIN_MS),
];

const measureUploads = async (): Promise<BenchRow[]> => {
  const rows = comparisonRows(await compare());
  let smallest: number | undefined;
  for (const size of SIZES) {
    const { peakMb, perSecond } = await runFile(size);
    smallest ??= peakMb;
    rows.push(
      fact(`rows a second at ${size.toLocaleString("en")} rows`, perSecond, "rows/s"),
      within(`peak memory at ${size.toLocaleString("en")} rows`, peakMb, "MB", smallest + FLAT_WITHIN_MB),
    );
  }
  return rows;
};

/** The same file with other names of agents: each row changes one field. */
function* withOtherNames(lines: Iterable<string>): Generator<string> {
  for (const chunk of lines) yield chunk.replaceAll(",Agent ", ",Person ");
}

/** Undoes a file whose rows all change an item, in a new process. */
const runUndo = async (rows: number): Promise<Undone> => {
  const child = start("undo");
  await sendFile(child, csvOf(rows));
  await sendFile(child, withOtherNames(csvOf(rows)));
  const result = await messageFrom<Undone>(child);
  await end(child);
  return result;
};

const measureUndo = async (): Promise<BenchRow[]> => {
  const { fact: number, atLeast, within: limit } = rowsOf("undo");
  const rows: BenchRow[] = [];
  let smallest: number | undefined;
  for (const size of UNDO_SIZES) {
    const { updated, undone } = await runUndo(size);
    const at = `at ${size.toLocaleString("en")} rows`;
    smallest ??= undone.peakMb;
    rows.push(
      number(`updated rows a second ${at}`, updated.perSecond, "rows/s"),
      number(`undone items a second ${at}`, undone.perSecond, "items/s"),
      atLeast(`undo beside the import ${at}`, undone.perSecond / updated.perSecond, "×", UNDO_AT_LEAST),
      number(`peak memory before the undo ${at}`, updated.peakMb, "MB"),
      limit(`peak memory with the undo ${at}`, undone.peakMb, "MB", smallest + FLAT_WITHIN_MB),
    );
  }
  return rows;
};

/** Measures the undo of files against their import. */
export const undo = { measure: (): Promise<BenchRow[]> => withEngines(measureUndo) };

/** Measures CSV against the batch endpoint, the time for a small file, and memory by file size. */
export const measure = (): Promise<BenchRow[]> => withEngines(measureUploads);
