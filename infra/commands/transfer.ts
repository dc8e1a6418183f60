import { createReadStream, createWriteStream } from "node:fs";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { exportOrganization } from "../../lib/customer-data/export-organization.ts";
import { type Imported, importOrganization } from "../../lib/customer-data/import-organization.ts";
import { UsageError } from "./administration.ts";
import type { OperatorRuntime } from "./operator-runtime.ts";
import { scanBar } from "./scan-bar.ts";

/** Options of `organizations export` and `organizations import`. */
export interface TransferOptions {
  readonly file?: string | undefined;
  readonly replace: boolean;
  readonly "dry-run": boolean;
  readonly json: boolean;
}

/** Opens a stream, so that a file that cannot be used is told before anything is done. */
const opened = async <S extends ReturnType<typeof createReadStream> | ReturnType<typeof createWriteStream>>(
  stream: S,
): Promise<S> => {
  await once(stream, "open").catch((error: unknown) => {
    throw new UsageError(`--file: ${error instanceof Error ? error.message : String(error)}`);
  });
  return stream;
};

/** `organizations export`: NDJSON to the standard output or a file. */
export const exportTo = async (
  runtime: OperatorRuntime,
  organization: string,
  { file, json }: TransferOptions,
): Promise<string | undefined> => {
  const target: Writable = file === undefined ? process.stdout : await opened(createWriteStream(file, { mode: 0o600 }));
  const write = (lines: string): Promise<void> =>
    new Promise((resolve, reject) => {
      target.write(lines, (error) => (error ? reject(error) : resolve()));
    });
  const bar = scanBar("exporting");
  const counts = await exportOrganization(runtime, organization, write, bar.update).finally(bar.stop);
  if (file === undefined) return undefined;
  target.end();
  await once(target, "close");
  if (json) return JSON.stringify({ organization, file, ...counts });
  const { work_items: items, events, conversation_uploads: conversations } = counts;
  return `${file}: ${items} work items, ${events} events, ${conversations} conversation uploads`;
};

/** The lines of a stream. It is not read before the first is asked for: lines that come earlier would be lost. */
async function* linesOf(input: Readable): AsyncGenerator<string> {
  yield* createInterface({ input, crlfDelay: Infinity });
}

/** `organizations import`: takes what `export` has written, from the standard input or a file. */
export const importFrom = async (
  runtime: OperatorRuntime,
  organization: string,
  options: TransferOptions,
): Promise<string> => {
  const { file, replace, json, "dry-run": dryRun } = options;
  const input = file === undefined ? process.stdin : await opened(createReadStream(file));
  let done: Imported = { lines: 0, written: 0, existing: 0 };
  for await (done of importOrganization(runtime, organization, linesOf(input), { replace, dryRun })) {
    if (process.stderr.isTTY) process.stderr.write(`\r${done.lines} lines`);
  }
  if (process.stderr.isTTY) process.stderr.write("\n");
  if (json) return JSON.stringify({ organization, dry_run: dryRun, ...done });
  return `${dryRun ? "would write" : "wrote"} ${done.written} records; ${done.existing} were there and stay as they are`;
};
