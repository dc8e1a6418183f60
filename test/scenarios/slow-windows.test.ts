import { expect, it } from "vitest";
import { createTestClock } from "../support/clock.ts";
import { createTestOrganization } from "../support/organization.ts";
import { createTestRuntime } from "../support/runtime.ts";
import { createWorkers } from "../support/uploads/upload-workers.ts";
import { aroundRequests } from "../support/faults.ts";
import { type BatchGetItemCommandInput } from "@aws-sdk/client-dynamodb";

const RUN_MS = 90_000;
const RUNS_MAX = 60;
const ROWS = 40;

/** Applies a file whose reads of items take time, though every request is answered. @param costOf milliseconds, by the number of keys */
const applySlowly = async (costOf: (keys: number) => number) => {
  const clock = createTestClock();
  const runtime = await createTestRuntime({ clock });
  const { organization } = await createTestOrganization(runtime);
  const workers = createWorkers(runtime);
  aroundRequests(runtime.dynamodb, async (command, { RequestItems = {} }: Partial<BatchGetItemCommandInput>, send) => {
    const lists = command === "BatchGetItemCommand" ? Object.values(RequestItems) : [];
    if (lists.length > 0) clock.advance(costOf(lists.reduce((sum, { Keys }) => sum + Keys!.length, 0)));
    return send();
  });
  const ids = Array.from({ length: ROWS }, (_, index) => `s-${index}\n`).join("");
  const job = await workers.upload(organization, { text: `external_id\n${ids}` });
  await workers.handle(JSON.stringify(job), clock() + RUN_MS);
  for (let run = 0; run < RUNS_MAX; run++) {
    const [shard] = (await workers.store.read(job))!.shards;
    await workers.handle(JSON.stringify({ ...job, shard: 0, chunk: shard?.next ?? 0 }), clock() + RUN_MS);
    // A shard that waits for the store is busy for as long as its message is delayed.
    clock.advance(RUN_MS);
    const now = (await workers.store.readJob(job))!;
    if (now.status !== "processing") return now;
  }
  throw new Error("the job does not end");
};

it.each([
  ["each item takes four seconds, so that a window takes longer than a worker has", (keys: number) => keys * 4000],
  ["each request takes longer than a claim", () => 50_000],
])("rows are applied and counted once where %s to read", async (_, costOf) => {
  expect(await applySlowly(costOf)).toMatchObject({ status: "completed", succeeded_rows: ROWS, created_rows: ROWS });
});
