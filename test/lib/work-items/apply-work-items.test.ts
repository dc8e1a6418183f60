import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ORIGIN_KEY } from "../../../lib/store/table-origin.ts";
import type { ItemInput } from "../../../lib/work-items/pending-input.ts";
import { createApplyWorkItems } from "../../../lib/work-items/apply-work-items.ts";
import { createDeleteWorkItem } from "../../../lib/work-items/change-work-item.ts";
import { type Fault, injectFaults } from "../../support/faults.ts";
import { organizationWith } from "../../support/organization.ts";
import { createTestRuntime } from "../../support/runtime.ts";

const organization = organizationWith();
const soon = () => ({ deadline: Date.now() + 20_000 });

const inputs = (count: number, fields: object = {}): ItemInput[] =>
  Array.from({ length: count }, (_, index) => ({ input: { external_id: `INC${index}`, ...fields } }));

const row = (number: number, type: string): ItemInput => ({ input: { external_id: "A", type }, row: number });

const guard = () => Promise.reject(new Error("claim lost"));

describe("applying work items", () => {
  const setUp = async () => {
    const runtime = await createTestRuntime();
    const scan = async () => {
      const TableName = runtime.environment.WORK_ITEMS_TABLE;
      const { Items = [] } = await runtime.dynamodb.send(new ScanCommand({ TableName }));
      return Items.filter(({ pk }) => pk !== ORIGIN_KEY.pk);
    };
    return { runtime, scan, apply: createApplyWorkItems(runtime), remove: createDeleteWorkItem(runtime) };
  };

  it("creates, finds unchanged, updates and restores a hundred items in the order given", async () => {
    const { apply, remove } = await setUp();
    const outcomes = async (items: ItemInput[]) =>
      (await apply(organization, items, soon())).map((result) => result.outcome);
    expect(await outcomes(inputs(100))).toEqual(Array(100).fill("created"));
    expect(await outcomes(inputs(100))).toEqual(Array(100).fill("unchanged"));
    const [first] = await apply(organization, inputs(1), soon());
    await remove(organization, first!.id, soon());
    const mixed = [
      ...inputs(1),
      ...inputs(100, { type: "call" }).slice(1),
      { input: { external_id: "NEW" } },
    ].toReversed();
    expect(await outcomes(mixed)).toEqual(["created", ...Array(99).fill("updated"), "restored"]);
  });

  it("takes a change of events alone as updated without moving updated_at", async () => {
    const { apply } = await setUp();
    const event = { external_id: "E", content: "opened" };
    const [created] = await apply(organization, [{ input: { external_id: "A", events: [event, event] } }], soon());
    const [again] = await apply(organization, [{ input: { external_id: "A", events: [event] } }], soon());
    const [changed] = await apply(
      organization,
      [{ input: { external_id: "A", events: [{ ...event, content: "closed" }] } }],
      soon(),
    );
    expect([created?.outcome, again?.outcome, changed?.outcome]).toEqual(["created", "unchanged", "updated"]);
    expect(changed?.item?.updated_at).toBe(created?.item?.updated_at);
  });

  it("previews in a dry run what the call then does, and writes nothing", async () => {
    const item = fc.record(
      {
        external_id: fc.constantFrom("A", "B", "C"),
        type: fc.constantFrom("call", "chat"),
        completed_at: fc.constantFrom(null, "2026-01-01T00:00:00.000Z"),
        custom_attributes: fc.dictionary(fc.constantFrom("x", "y"), fc.integer({ min: 0, max: 2 })),
        events: fc.array(fc.record({ external_id: fc.constantFrom("E", "F"), content: fc.constantFrom("1", "2") }), {
          maxLength: 3,
        }),
      },
      { requiredKeys: ["external_id"] },
    );
    const { apply, scan, runtime } = await setUp();
    const still = createApplyWorkItems({ ...runtime, clock: () => 1_800_000_000_000 });
    await fc.assert(
      fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 6 }), async (items) => {
        const batch = items.map((input) => ({ input }));
        const before = await scan();
        const options = { deadline: 1_800_000_020_000 };
        const previewed = await still(organization, batch, { ...options, dryRun: true });
        expect(await scan()).toEqual(before);
        const applied = await still(organization, batch, options);
        expect(previewed).toEqual(applied);
        const again = await apply(organization, batch.slice(-1), soon());
        expect(again.map(({ outcome }) => outcome)).toEqual(["unchanged"]);
      }),
      { numRuns: 25 },
    );
  });

  it("applies everything once although responses are lost and requests throttled", async () => {
    const { apply, runtime, scan } = await setUp();
    let seed = 7;
    const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    const remove = injectFaults(runtime.dynamodb, (command): Fault => {
      if (command.startsWith("BatchGet")) return "none";
      const roll = random();
      return roll < 0.3 ? "lost response" : roll < 0.4 ? "throttled" : "none";
    });
    const results = await apply(organization, inputs(60, { events: [{ external_id: "E" }] }), soon());
    remove();
    expect(results.map(({ outcome }) => outcome)).toEqual(Array(60).fill("created"));
    expect((await scan()).map((record) => record["version"])).toEqual(Array(120).fill(1));
  });

  it("forgets the rows of a job once it has ended, and those of earlier windows", async () => {
    const { apply, scan } = await setUp();
    const findEnded = async () => new Set(["job-a"]);
    const rows = { 2: "job-a", 9: "job-b", 12: "job-b" };
    for (const [number, job] of Object.entries(rows)) {
      const source = { job, createdAt: 1, firstRow: Number(number), findEnded };
      await apply(organization, [row(Number(number), number)], { ...soon(), source });
    }
    expect(await scan()).toMatchObject([{ type: "12", applied_rows: "job-b:12u" }]);
  });

  it("writes nothing once the guard has thrown", async () => {
    const { apply, scan } = await setUp();
    await expect(apply(organization, inputs(3), { ...soon(), guard })).rejects.toThrow("claim lost");
    expect(await scan()).toEqual([]);
  });

  it("waits for the guard before each write, and says whether others write to the items too", async () => {
    const { apply, scan } = await setUp();
    await apply(organization, inputs(2), soon());
    const calls: { readonly isRetry: boolean; readonly mine: number }[] = [];
    const results = await apply(organization, inputs(2, { type: "mine" }), {
      ...soon(),
      guard: async (isRetry) => {
        if (!isRetry) await apply(organization, inputs(1, { agent_name: "Ann" }), soon());
        calls.push({ isRetry, mine: (await scan()).filter((item) => item["type"] === "mine").length });
      },
    });
    expect(results.map(({ outcome }) => outcome)).toEqual(["updated", "updated"]);
    expect(calls).toEqual([
      { isRetry: false, mine: 0 },
      { isRetry: true, mine: 1 },
    ]);
    expect((await scan()).map((item) => item["type"])).toEqual(["mine", "mine"]);
  });

  it("reports what the deadline left undone as an error of each item", async () => {
    const { apply, scan } = await setUp();
    const results = await apply(organization, inputs(2), { deadline: Date.now() - 1 });
    expect(results.map(({ outcome, error }) => [outcome, error?.permanent])).toEqual([
      ["error", false],
      ["error", false],
    ]);
    expect(await scan()).toEqual([]);
  });
});
