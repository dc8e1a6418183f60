import { once } from "node:events";
import { createReadStream, type ReadStream, statSync } from "node:fs";
import type { Readable } from "node:stream";
import type { CustomerCounts } from "../data/customer-lines.ts";
import { exportOrganization, exportSource } from "../data/export-organization.ts";
import { type Imported, importOrganization } from "../data/import-organization.ts";
import { UsageError } from "@work-items/terminal/command-line.ts";
import { plainReason } from "@work-items/terminal/plain-reason.ts";
import { countOf, type Terminal } from "@work-items/terminal/terminal.ts";
import { nameDamaged, type Result } from "./target-tables.ts";
import { openExportFile } from "./export-file.ts";
import type { OperatorRuntime } from "./operator-runtime.ts";
import { type LedgerOptions, refuseErased } from "./restored-table.ts";
import { jsonLines } from "@work-items/cli/json-lines.ts";
import { withBar } from "@work-items/cli/progress-bar.ts";
import { costOf, withReadBar } from "./read-bar.ts";

export interface TransferOptions extends LedgerOptions {
  readonly file?: string;
  readonly overwrite?: boolean;
  readonly replace?: boolean;
  readonly keep?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

function countsInWords(counts: CustomerCounts): string {
  const { work_items: items, events, conversation_uploads: conversations, left_out: leftOut } = counts;
  return (
    `${countOf(items, "work item")}, ${countOf(events, "event")}, ${countOf(conversations, "conversation upload")}` +
    (leftOut === undefined ? "" : `, without ${countOf(leftOut, "record")} that can't be read`)
  );
}

/** Exports NDJSON to the standard output or a file. A repeated export to a file continues where it stopped. */
export async function exportTo(
  terminal: Terminal,
  runtime: OperatorRuntime,
  organization: string,
  { file, overwrite, dryRun = false, ...ledger }: TransferOptions,
): Promise<Result | undefined> {
  await refuseErased(runtime, ledger);
  await using toFile =
    file === undefined || dryRun
      ? undefined
      : await openExportFile(file, await exportSource(runtime, organization), overwrite);
  if (toFile?.from) terminal.note(`continuing the export that started ${toFile.from.position.exported_at}`);
  const toOutput = (lines: string): Promise<void> => terminal.writeData(lines);
  const write = dryRun ? () => Promise.resolve() : (toFile?.write ?? toOutput);
  const options = { from: toFile?.from, ...(toFile && { onWritten: toFile.savePosition }) };
  const { counts, readUnits } = await withReadBar(terminal, dryRun ? "counting" : "exporting", (onProgress) =>
    exportOrganization(runtime, organization, write, { ...options, onProgress, onDamaged: nameDamaged(terminal) }),
  );
  await toFile?.finish();
  const cost = costOf(readUnits);
  if (!dryRun && file === undefined) {
    terminal.note(`${countsInWords(counts)}; ${cost}`);
    return undefined;
  }
  return [
    { organization, file, dry_run: dryRun, ...counts, read_units: readUnits },
    `${dryRun ? "would export" : `${file}:`} ${countsInWords(counts)}; ${cost}`,
  ];
}

/** Opens a file. Fails before anything is done if it can't be read. */
async function opened(file: string): Promise<ReadStream> {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`--file: ${file} is a directory`);
  const stream = createReadStream(file);
  await once(stream, "open").catch((error: unknown) => {
    throw new UsageError(`--file ${file}: ${plainReason(error)}`);
  });
  return stream;
}

/** The lines of a stream. @throws UsageError at one that isn't UTF-8 */
async function* linesOf(input: Readable): AsyncGenerator<string> {
  let number = 0;
  for await (const line of jsonLines(input)) {
    number += 1;
    if (line === undefined) throw new UsageError(`line ${number}: isn't valid UTF-8`);
    yield line;
  }
}

/** `organizations import`: reads an export from the standard input or a file. */
export async function importFrom(
  terminal: Terminal,
  runtime: OperatorRuntime,
  organization: string,
  given: TransferOptions,
): Promise<Result> {
  const { file, replace = false, keep = false, json = false, dryRun = false } = given;
  await refuseErased(runtime, given);
  const existing = replace ? "replace" : keep ? "keep" : "refuse";
  const options = { existing, dryRun, onDamaged: nameDamaged(terminal) } as const;
  const input = file === undefined ? terminal.stdin : await opened(file);
  const bytes = file === undefined ? 0 : statSync(file).size;
  const format = `${dryRun ? "reading" : "importing"} {bar} {lines} lines, {duration_formatted}`;
  let done: Imported = { lines: 0, written: 0, existing: 0 };
  await withBar(terminal, format, { lines: 0 }, async (update) => {
    for await (done of importOrganization(runtime, organization, linesOf(input), options)) {
      update("bytesRead" in input ? input.bytesRead : 0, bytes, { lines: done.lines });
    }
  });
  if (done.left_out !== undefined && !json) {
    terminal.note(`the export had left out ${countOf(done.left_out, "record")} it couldn't read`);
  }
  return [
    { organization, dry_run: dryRun, ...done },
    `${dryRun ? "would write" : "wrote"} ${countOf(done.written, "record")}; ${done.existing} already existed and are unchanged` +
      (done.differing === undefined ? "" : `; ${done.differing} exist with other content: add --replace or --keep`),
  ];
}
