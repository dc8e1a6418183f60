import { beforeAll, describe, expect, it } from "vitest";
import { workItemId } from "../../../lib/identity.ts";
import { keyText } from "../../../lib/store/batch-get.ts";
import { createRecordStore } from "../../../lib/store/record-store.ts";
import { CLAIM_MS } from "../../../lib/uploads/job/bucket-store.ts";
import { createApplyWorkItems } from "../../../lib/work-items/apply-work-items.ts";
import { createDeleteWorkItem } from "../../../lib/work-items/change-work-item.ts";
import { eventKeyOf, itemKeyOf } from "../../../lib/work-items/work-item-record.ts";
import { createTestOrganization } from "../../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";
import { createFaultyRuntime, type FaultyRun } from "../../support/uploads/fault-injection.ts";
import { splitMessage } from "../../support/uploads/upload-harness.ts";
import { createWorkers } from "../../support/uploads/upload-workers.ts";

const NAMES = Array.from({ length: 150 }, (_, index) => `item-${index}`);
const column = (name: string) => ({ column: name });
/** A file whose rows are also events. */
const file = {
  text: `nr,kind,step\n${NAMES.map((name, index) => `${name},row ${index},e0\n`).join("")}`,
  mapping: {
    fields: { external_id: column("nr"), type: column("kind") },
    event: { external_id: column("step"), content: column("kind") },
  },
};
const WORKER_MS = 60_000;
/** Requests with which a worker writes items and events. */
const ITEM_WRITES = ["BatchExecuteStatementCommand", "PutItemCommand", "PutCommand"];

let base: TestRuntime;
let during: ReturnType<typeof createFaultyRuntime>["during"];
let workers: ReturnType<typeof createWorkers>;
beforeAll(async () => {
  base = await createTestRuntime();
  const faulty = createFaultyRuntime(base);
  ({ during } = faulty);
  workers = createWorkers(faulty.runtime);
});

/** The stored records of some items and their events. */
const recordsOf = async (organization: string, names: readonly string[]) => {
  const keys = names.flatMap((name) => [
    itemKeyOf(organization, name),
    eventKeyOf(organization, workItemId(organization, name), "e0"),
  ]);
  const read = await createRecordStore(base).read(keys);
  return keys.map((key) => read.get(keyText(key)));
};

/** Freezes the worker of a chunk at one of its requests. @returns what is known of it; undefined if it had fewer */
const freezeAt = async (request: number, when: "before" | "after") => {
  const { organization } = await createTestOrganization(base);
  const start = Date.now();
  let elapsed = 0;
  const clock = () => start + elapsed;
  const messages: string[] = [];
  const run: FaultyRun = {
    clock,
    faultOf: () => "none",
    statementFault: () => "none",
    stop: () => Promise.resolve(),
    onMessages: (bodies) => messages.push(...bodies),
  };
  const job = await during(run, () => workers.upload(organization, file));
  await during(run, () => workers.handle(JSON.stringify(splitMessage(job)), clock() + WORKER_MS));

  const sent: string[] = [];
  const frozen = Promise.withResolvers<void>();
  const thawed = Promise.withResolvers<void>();
  const worker = during(
    {
      ...run,
      faultOf: (command) => (sent.push(command) === request + 1 ? `stall ${when}` : "none"),
      stop: () => {
        frozen.resolve();
        return thawed.promise;
      },
    },
    () => workers.handle(messages[0]!, clock() + WORKER_MS).catch((error: unknown) => error),
  );
  const isFrozen = await Promise.race([frozen.promise.then(() => true), worker.then(() => false)]);
  if (!isFrozen) return undefined;

  await during(run, () => workers.store.requestStop(job, "cancelled"));
  elapsed += CLAIM_MS + 1;
  expect(await during(run, () => workers.finish(job))).toBe(true);
  const ended = await workers.store.read(job);

  // A client changes, deletes and restores three of four items, those that the worker would create next included.
  const touched = NAMES.filter((_, index) => index % 4 > 0);
  const apply = createApplyWorkItems(base);
  const options = { deadline: Date.now() + 20_000 };
  const change = async (names: readonly string[], type: string) => {
    const items = names.map((external_id) => ({
      input: { external_id, type, events: [{ external_id: "e0", content: type }] },
    }));
    for (let from = 0; from < items.length; from += 100) {
      await apply(organization, items.slice(from, from + 100), options);
    }
  };
  await change(touched, "client");
  const deleted = touched.filter((_, index) => index % 3 > 0);
  for (const name of deleted) {
    await createDeleteWorkItem(base)(organization, workItemId(organization.id, name), options);
  }
  await change(
    deleted.filter((_, index) => index % 2 > 0),
    "restored",
  );
  const before = await recordsOf(organization.id, touched);

  const sentBefore = sent.length;
  thawed.resolve();
  await worker;
  return {
    frozenAt: sent[request]!,
    sentAfter: sent.slice(sentBefore),
    before,
    after: await recordsOf(organization.id, touched),
    ended,
    job: await workers.store.read(job),
  };
};

describe("a worker that wakes up after its job was cancelled", () => {
  it.each(["before", "after"] as const)("overwrites nothing: frozen %s each kind of request", async (when) => {
    const kinds = new Map<string, number>();
    // Every third request each: those before which and those after which it is frozen are different ones.
    for (let request = when === "before" ? 1 : 2; ; request += 3) {
      const run = await freezeAt(request, when);
      if (run === undefined) break;
      kinds.set(run.frozenAt, (kinds.get(run.frozenAt) ?? 0) + 1);
      expect({ request, records: run.after }).toEqual({ request, records: run.before });
      expect(run.job).toEqual(run.ended);
      // Only what was on its way lands.
      expect({ request, writes: run.sentAfter.filter((command) => ITEM_WRITES.includes(command)) }).toEqual({
        request,
        writes: [],
      });
    }
    for (const kind of ["BatchGetItemCommand", "BatchExecuteStatementCommand", "PutObjectCommand", "UpdateItemCommand"])
      expect(kinds.get(kind)).toBeGreaterThan(0);
  });
});
