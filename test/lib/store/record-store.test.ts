import { expect, it } from "vitest";
import { type ConditionalWrite, createRecordStore } from "../../../lib/store/record-store.ts";
import { createTestRuntime } from "../../support/runtime.ts";
import { aroundRequests } from "../../support/faults.ts";

it("sends all statements of the largest batch at once, so that a slow table is waited for once", async () => {
  const runtime = await createTestRuntime();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let waiting = 0;
  let last: Promise<unknown> = released;
  aroundRequests(runtime.dynamodb, (command, _, send) => {
    if (command !== "BatchExecuteStatementCommand") return send();
    waiting++;
    // The engine gets them one by one: DynamoDB Local needs more time for all at once than a request may take.
    const response = last.then(() => send());
    last = response;
    return response;
  });
  // A hundred items and their two thousand events, 25 in a request.
  const writes = Array.from({ length: 2100 }, (_, index): ConditionalWrite => {
    const key = { pk: `RECORD#${index}`, sk: "#" };
    return { key, before: undefined, set: { version: 1, writes: "1:first" }, remove: [] };
  });
  const written = createRecordStore(runtime).write(writes, async () => undefined);
  await expect.poll(() => waiting).toBe(84);
  release();
  expect((await written).filter(({ kind }) => kind === "written")).toHaveLength(2100);
});

it("asks between many single writes whether it may continue", async () => {
  const runtime = await createTestRuntime();
  const writes = Array.from({ length: 40 }, (_, index): ConditionalWrite => {
    const key = { pk: `RECORD#${index}`, sk: "#" };
    return { key, before: undefined, set: { version: 1, writes: "1:first" }, remove: [] };
  });
  const store = createRecordStore(runtime);
  const written = store.writeNatively(writes, () => Promise.reject(new Error("too late")));
  await expect(written).rejects.toThrow("too late");
  const records = await store.read(writes.map(({ key }) => key));
  expect(records.size).toBe(16);
});
