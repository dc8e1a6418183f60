import { createReadStream, openAsBlob } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { Client, Mapping, WorkItemInput } from "work-items-client/client.ts";
import { mappingSchema } from "@work-items/lib/uploads/mapping/mapping.ts";
import { CommandError, createCommandLine, runCommand } from "@work-items/terminal/command-line.ts";
import { runAsProgram, type Terminal } from "@work-items/terminal/terminal.ts";
import { withProgress } from "../progress-bar.ts";
import { readItems } from "../work-items/read-items.ts";
import { explain, openService } from "../work-items/service-client.ts";
import logMapping from "./incident-log.mapping.json" with { type: "json" };
import ticketsMapping from "./tickets.mapping.json" with { type: "json" };

/** A hundred changes to 25 tickets. */
const TICKETS = fileURLToPath(new URL("tickets.csv", import.meta.url));

/** Shows the progress of work. @returns its result, and how long it took */
async function timed<T>(...work: Parameters<typeof withProgress<T>>) {
  const started = performance.now();
  return { result: await withProgress(...work), seconds: (performance.now() - started) / 1000 };
}

/** Sends items in batches. @returns the number of items by outcome, and how long it took */
function sendBatches(terminal: Terminal, { workItems }: Client, items: readonly WorkItemInput[], dryRun: boolean) {
  return timed(terminal, dryRun ? "compare" : "batches", "items", async (update) => {
    const summary = { created: 0, updated: 0, unchanged: 0, restored: 0, error: 0 };
    let sent = 0;
    for await (const { status } of workItems.apply(items, { dryRun, onInvalid: "skip" })) {
      summary[status] += 1;
      update(++sent, items.length);
    }
    return summary;
  });
}

function perSecond(count: number, seconds: number): string {
  return `${Math.round(count / seconds)} a second`;
}

async function openFile(path: string): Promise<Blob> {
  try {
    return await openAsBlob(path);
  } catch {
    throw new CommandError(`cannot read ${path}`);
  }
}

async function run(terminal: Terminal, log: string | undefined): Promise<void> {
  const path = log ?? TICKETS;
  const written = log === undefined ? ticketsMapping : logMapping;
  const mapping = mappingSchema.parse(written);
  const file = await openFile(path);
  const client = openService(terminal);
  const items = await readItems(createReadStream(path), mapping);
  const events = items.reduce((sum, item) => sum + (item.events?.length ?? 0), 0);
  terminal.print(`${items.length} items with ${events} events`);

  const batches = await sendBatches(terminal, client, items, false);
  const counts = Object.entries(batches.result).map(([outcome, count]) => `${count} ${outcome}`);
  terminal.print(`batches  ${counts.join(", ")}; ${perSecond(items.length, batches.seconds)}`);

  const { result: job, seconds } = await timed(terminal, "upload ", "rows", async (update) => {
    const upload = await client.uploads.upload(file, { filename: basename(path), mapping: written as Mapping });
    return upload.wait({ onProgress: (now) => update(now.succeeded_rows + now.failed_rows, now.total_rows) });
  });
  const counted = `${job.succeeded_rows} succeeded, ${job.failed_rows} failed of ${job.total_rows} rows`;
  const why = job.error === undefined ? "" : `; ${job.error}`;
  terminal.print(`upload   ${job.status}: ${counted}; ${perSecond(job.total_rows, seconds)}${why}`);

  // The upload applied each row to the items of the batches. They are unchanged only if both ways give the same values.
  const { result: compared } = await sendBatches(terminal, client, items, true);
  terminal.print(`compare  ${compared.unchanged} of ${items.length} items are equal, whichever way they came`);
  const failed = batches.result.error + job.failed_rows;
  if (failed > 0 || job.status !== "completed" || compared.unchanged < items.length) terminal.exitCode = 1;
}

/** `npm run demo`. @returns the exit status */
export function demoCommand(terminal: Terminal): Promise<number> {
  const program = createCommandLine(
    terminal,
    "npm run demo --",
    "Apply a change log as batches and as an upload, and compare",
  );
  program
    .argument("[incident_event_log.csv]", "a larger log (default: 100 rows of tickets)")
    .action((log: string | undefined) => run(terminal, log));
  return runCommand(terminal, program, (error) => explain(terminal, error));
}

if (import.meta.main) await runAsProgram(demoCommand);
