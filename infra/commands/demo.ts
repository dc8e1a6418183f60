import { createReadStream, openAsBlob } from "node:fs";
import { basename } from "node:path";
import { mappingSchema } from "../../lib/uploads/mapping/mapping.ts";
import { applyBatch, batchesOf, type BatchItem } from "../command-line/batches.ts";
import { startProgress } from "../command-line/progress.ts";
import { readItems } from "../command-line/read-items.ts";
import { CommandError, createServiceClient, findService, type ServiceClient } from "../command-line/service-client.ts";
import { uploadFile, waitForJob } from "../command-line/upload-file.ts";
import logMapping from "./incident-log.mapping.json" with { type: "json" };

/** What the batches did, by outcome, and how long it took. */
const sendBatches = async (client: ServiceClient, items: readonly BatchItem[], dryRun: boolean) => {
  const summary: Record<string, number> = { created: 0, updated: 0, unchanged: 0, restored: 0, error: 0 };
  const progress = startProgress(dryRun ? "compare" : "batches", "items");
  const started = performance.now();
  let sent = 0;
  for await (const batch of batchesOf(items, (item) => item)) {
    const results = await applyBatch(client, batch, dryRun);
    for (const { status } of results) summary[status] = (summary[status] ?? 0) + 1;
    sent += batch.length;
    progress.update(sent, items.length);
  }
  progress.stop();
  return { summary, seconds: (performance.now() - started) / 1000 };
};

const perSecond = (count: number, seconds: number): string => `${Math.round(count / seconds)} a second`;

const main = async (path: string | undefined): Promise<void> => {
  if (path === undefined) throw new CommandError("usage: npm run demo -- incident_event_log.csv");
  const mapping = mappingSchema.parse(logMapping);
  const file = await openAsBlob(path).catch((error: unknown) => {
    throw new CommandError(`cannot read ${path}: ${String(error)}`);
  });
  const client = createServiceClient(findService());
  const items = await readItems(createReadStream(path), mapping);
  const events = items.reduce((sum, item) => sum + (item.events?.length ?? 0), 0);
  console.log(`${items.length} incidents with ${events} events`);

  const batches = await sendBatches(client, items, false);
  const counts = Object.entries(batches.summary).map(([outcome, count]) => `${count} ${outcome}`);
  console.log(`batches  ${counts.join(", ")}; ${perSecond(items.length, batches.seconds)}`);

  const started = performance.now();
  const progress = startProgress("upload ", "rows");
  const name = basename(path);
  const job = await waitForJob(client, await uploadFile(client, { file, name, mapping, dryRun: false }), (now) =>
    progress.update(now.succeeded_rows + now.failed_rows, now.total_rows),
  );
  progress.stop();
  const rate = perSecond(job.total_rows, (performance.now() - started) / 1000);
  console.log(
    `upload   ${job.status}: ${job.succeeded_rows} succeeded, ${job.failed_rows} failed of ${job.total_rows} rows; ${rate}${job.error === undefined ? "" : `; ${job.error}`}`,
  );

  // The upload has applied each row to what the batches had made of all: only the same values leave the same items.
  const compared = await sendBatches(client, items, true);
  const equal = compared.summary["unchanged"] ?? 0;
  console.log(`compare  ${equal} of ${items.length} incidents are equal, whichever way they came`);
  const failed = (batches.summary["error"] ?? 0) + job.failed_rows;
  if (failed > 0 || job.status !== "completed" || equal < items.length) process.exitCode = 1;
};

try {
  await main(process.argv[2]);
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
