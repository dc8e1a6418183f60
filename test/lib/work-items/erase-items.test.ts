import { beforeEach, describe, expect, it, vi } from "vitest";
import { workItemId } from "../../../lib/identity.ts";
import { changeOrganization } from "../../../apps/operator/data/administration.ts";
import { eraseItem } from "../../../apps/operator/data/erase-item.ts";
import { countForErasure, eraseOrganization } from "../../../apps/operator/data/erase-organization.ts";
import { createEraseExpired } from "../../../lib/retention/retention-run.ts";
import { chunksOf } from "../../../lib/retry.ts";
import { createTestClock } from "../../support/clock.ts";
import { operatorOf, tracesOf } from "../../support/customer-data.ts";
import { type Fault, injectFaults } from "../../support/faults.ts";
import { createFeedCustomer } from "../../support/feed.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";

const DAY_MS = 86_400_000;
const clock = createTestClock();
const sleep = async (milliseconds: number): Promise<void> => clock.advance(milliseconds);
/** Events that don't go with their item in one transaction. */
const EVENTS = 230;

let runtime: TestRuntime;
let acme: Awaited<ReturnType<typeof createFeedCustomer>>;
beforeEach(async () => {
  runtime = await createTestRuntime({ clock });
  acme = await createFeedCustomer(runtime);
  const events = Array.from({ length: EVENTS }, (_, index) => ({ external_id: `e${index}`, content: "text" }));
  for (const each of chunksOf(events, 99)) await acme.apply({ external_id: "a", events: each });
  clock.advance(40 * DAY_MS);
  await changeOrganization(runtime, acme.organization.id, { retention_days: 30 });
});
const itemRecords = async (): Promise<string[]> =>
  (await tracesOf(runtime, acme.organization.id)).filter((key) => key.startsWith("ITEM#"));

/** All that erases items. */
const ERASURES = {
  retention: () => createEraseExpired(runtime, sleep)(clock() + 15 * 60_000),
  "erase --item": () => eraseItem(runtime, acme.organization.id, "a", { sleep }),
  erase: async () => {
    await countForErasure(operatorOf(runtime), acme.organization.id);
    // The scan at the end reads whole records, a megabyte at a time.
    await eraseOrganization(operatorOf(runtime), acme.organization.id, { sleep, withoutScan: true });
  },
};
const names = Object.keys(ERASURES) as (keyof typeof ERASURES)[];

describe("an item that holds more than one transaction takes", () => {
  it.each(names)("is erased whole by %s, which reads keys only", async (name) => {
    const read: unknown[] = [];
    const removeFaults = injectFaults(runtime.dynamodb, (command, input): Fault => {
      const isOfItem = JSON.stringify(input["ExpressionAttributeValues"] ?? {}).includes(`"ITEM#`);
      if (command === "QueryCommand" && isOfItem) read.push(input["ProjectionExpression"]);
      return "none";
    });
    await ERASURES[name]();
    removeFaults();
    expect(read.length).toBeGreaterThan(2);
    for (const projection of read) expect(projection).toMatch(/^pk, sk(, (version|\w+_at|listing_\w+))*$/);
    expect(await itemRecords()).toEqual([]);
  });

  it.each(names)("is erased by the next run after %s was interrupted at any write", async (name) => {
    vi.spyOn(runtime.log, "error").mockImplementation(() => undefined);
    let isLeft = false;
    for (let lastWrite = 1, isOver = false; !isOver; lastWrite++) {
      let writes = 0;
      const removeFaults = injectFaults(runtime.dynamodb, (command): Fault => {
        if (/Transact|Delete/.test(command)) writes += 1;
        return writes >= lastWrite ? "unreachable" : "none";
      });
      await ERASURES[name]().catch((error: unknown) => error);
      removeFaults();
      const left = await itemRecords();
      isLeft ||= left.length > 0 && left.every((key) => !key.endsWith("#ITEM"));
      isOver = left.length === 0 || isLeft;
    }
    expect(isLeft).toBe(true);
    const found = await acme.send("getWorkItem", { params: { id: workItemId(acme.organization.id, "a") } });
    expect(found.status).toBeGreaterThanOrEqual(401);
    // Whichever erasure comes next finds what is left of it, although the item is gone.
    await (name === "erase" ? ERASURES.erase() : ERASURES.retention());
    expect(await itemRecords()).toEqual([]);
  });
});
