import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { assertLedgerOf, missingErasure, reapplyErasures } from "../../apps/operator/data/reapply-erasures.ts";
import { DATA_VERSION } from "../../lib/store/data-version.ts";
import { CLAIM_MS } from "../../lib/uploads/job/claim.ts";
import { createSample, type Line, namesOf, restoreSample, toLine, toText } from "../samples/sample.ts";
import { createTestClock } from "../support/clock.ts";
import { operatorOf } from "../support/customer-data.ts";
import { createCaller } from "../support/service.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import { create as createAppendChanges } from "../../functions/append-changes.ts";
import { create as createApplyChunk } from "../../functions/apply-upload-chunk.ts";
import { create as createDeliver } from "../../functions/deliver-webhooks.ts";
import { create as createSplitUpload } from "../../functions/split-upload.ts";
import { messageIn } from "../../lib/changes/change-messages.ts";
import { create as createSweepUploads } from "../../functions/sweep-uploads.ts";

/**
 * What code of this version stored and sent in a real run on the engines. Made by `WRITE_SAMPLE=1 npm test -- test/scenarios/sample`,
 * once for each version: a new one only together with a higher `DATA_VERSION`.
 */
const FILE = new URL(`../samples/version-${DATA_VERSION}.ndjson`, import.meta.url);
if (process.env["WRITE_SAMPLE"] === "1" && !existsSync(FILE)) {
  writeFileSync(FILE, (await createSample()).map((line) => `${toText(line)}\n`).join(""));
}
const sample: readonly Line[] = readFileSync(FILE, "utf8").trimEnd().split("\n").map(toLine);
const found = <K extends string>(name: K) =>
  sample.find((line): line is Extract<Line, Record<K, unknown>> => name in line)!;

test("this code stores and sends everything by the names that this version has, at least", async () => {
  const names = new Set(namesOf(await createSample()));
  const gone = namesOf(sample).filter((name) => !names.has(name));
  expect(gone, "names are gone: raise DATA_VERSION (lib/store/data-version.ts)").toEqual([]);
});

test("this code reads everything that this version has stored and sent", async () => {
  const { organization, key, at, completed, running } = found("run").run;
  const clock = createTestClock();
  clock.advance(at - clock());
  const runtime = await restoreSample(sample, clock);
  const call = createCaller(runtime, key);
  const { cursors } = found("cursors");

  const items = await call("listWorkItems", { query: { limit: 2, cursor: cursors.items } });
  expect([items.status, items.body.data.length]).toEqual([200, 2]);
  const changes = await call("listWorkItemChanges", { query: { after: cursors.changes, include: "events" } });
  expect([changes.status, changes.body.data.length > 0]).toEqual([200, true]);
  for (const list of ["listWebhooks", "listConversationUploads", "listWorkItemUploads"] as const) {
    expect([list, (await call(list)).body.data.length > 0]).toEqual([list, true]);
  }

  // The ledger was applied once, and then a person's erasure was interrupted.
  const operator = operatorOf(runtime);
  await expect(assertLedgerOf(operator, operator, false)).resolves.toMatchObject({ region: "us" });
  const missing = await missingErasure(operator, operator);
  expect(missing).toBeDefined();
  const reapplied = await reapplyErasures(operator, operator, missing!, { onDamaged: () => expect.unreachable() });
  expect([reapplied.deleted, reapplied.emptied, await missingErasure(operator, operator)]).toEqual([0, 1, undefined]);

  const handlers = {
    splitQueue: createSplitUpload(runtime),
    chunksQueue: createApplyChunk(runtime),
    changesQueue: createAppendChanges(runtime),
    webhooksQueue: createDeliver(runtime),
  };
  const messages = sample.filter((line) => "queue" in line);
  const changesSent = messages.filter(({ queue }) => queue === "changesQueue");
  expect(changesSent.map(({ body }) => messageIn(body)?.organization)).toEqual(changesSent.map(() => organization));
  for (const line of messages) {
    const event = sqsEvent(JSON.parse(line.body));
    const { batchItemFailures } = await handlers[line.queue as keyof typeof handlers](event, lambdaContext(120_000));
    expect([line.queue, line.body, batchItemFailures]).toEqual([line.queue, line.body, []]);
  }
  const harness = createUploadHarness(runtime);
  const job = async (id: string) => (await call("getWorkItemUpload", { params: { id } })).body.data;
  for (let minutes = 0; minutes < 10 && (await job(running)).status === "processing"; minutes++) {
    clock.advance(CLAIM_MS);
    await createSweepUploads(runtime)({}, lambdaContext(120_000));
    await harness.drain();
  }
  expect(await job(running)).toMatchObject({ status: "completed", created_rows: 2, failed_rows: 0 });

  const { total_rows: rows } = await job(completed);
  const { id: undo } = (await call("undoWorkItemUpload", { params: { id: completed } })).body.data;
  clock.advance(CLAIM_MS);
  await harness.split(sqsEvent(splitMessage({ organization, id: undo })), lambdaContext(120_000));
  await harness.drain();
  expect(await job(undo)).toMatchObject({ status: "completed", total_rows: rows, deleted_rows: 1, undone_rows: 1 });
});
