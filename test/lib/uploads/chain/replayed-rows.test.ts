import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StoreBusyError } from "../../../../lib/errors.ts";
import type { RowReader } from "../../../../lib/uploads/csv/row-reader.ts";
import type { Row } from "../../../../lib/uploads/files/frames.ts";
import { createApplyRows, groupsOf } from "../../../../lib/uploads/chain/apply-rows.ts";
import { ROW_CANNOT_BE_APPLIED } from "../../../../lib/uploads/chain/row-result.ts";
import { createApplyWorkItems } from "../../../../lib/work-items/apply-work-items.ts";
import { createUpdateWorkItem } from "../../../../lib/work-items/change-work-item.ts";
import { createGetWorkItem } from "../../../../lib/work-items/read-work-item.ts";
import type { WorkItemInput } from "../../../../lib/work-items/work-item.ts";
import { type Fault, injectFaults } from "../../../support/faults.ts";
import { organizationWith } from "../../../support/organization.ts";
import { createTestRuntime } from "../../../support/runtime.ts";

const ITEMS_AT_ONCE = 5;
const RUNS = 30;
const soon = () => ({ deadline: Date.now() + 20_000 });

/** A row whose only cell is a work item as JSON. */
const jsonRow = (row: number, input: WorkItemInput): Row => {
  const text = JSON.stringify(input);
  return { row, text, values: [text], bytes: text.length };
};
const inputOf = ([json = ""]: readonly string[]): WorkItemInput => JSON.parse(json) as WorkItemInput;
/** Reads such rows. */
const jsonReader = {
  externalIdOf: (values: readonly string[]) => inputOf(values).external_id,
  read: (values: readonly string[]) => ({ input: inputOf(values) }),
} satisfies Pick<RowReader, "externalIdOf" | "read">;

const setUp = async () => {
  const runtime = await createTestRuntime();
  const apply = createApplyWorkItems(runtime);
  const applyRows = createApplyRows(apply, runtime.clock, ITEMS_AT_ONCE);
  return { runtime, apply, applyRows, get: createGetWorkItem(runtime), update: createUpdateWorkItem(runtime) };
};
const optionsOfJob = () => ({
  reader: jsonReader,
  source: { job: "job", createdAt: 1, firstRow: 2, findEnded: () => Promise.resolve(new Set<string>()) },
  guard: () => Promise.resolve(),
  ...soon(),
});
/** A row that sets a type and adds an event. */
const rowOf = (row: number, externalId: string, type: string): Row =>
  jsonRow(row, { external_id: externalId, type, events: [{ external_id: `e-${row}`, content: "opened" }] });

it("all rows of an item are applied together, however far apart they are", () => {
  expect(groupsOf(["A", "B", "C", "A", "D", "E", "B"], 2)).toEqual([[0, 1, 3, 6], [2, 4], [5]]);
});

describe("rows that are applied again", () => {
  // Its requests: the item is read, its event is read, the item is written.
  it.each([1, 2, 3])(
    "undo no change that others made after an earlier attempt, right before request %i",
    async (at) => {
      const { runtime, apply, applyRows, get, update } = await setUp();
      const organization = organizationWith({ id: randomUUID() });
      const [item] = await apply(organization, [{ input: { external_id: "A", type: "old" } }], soon());
      const attempt = () => applyRows(organization, [rowOf(2, "A", "imported")], optionsOfJob());
      let requests = 0;
      const stop = injectFaults(runtime.dynamodb, async (): Promise<Fault> => {
        if (++requests < at) return "none";
        stop();
        // The row doesn't change the item, so that only its event remembers it.
        await update(organization, item!.id, { type: "imported" }, soon());
        expect(await attempt()).toMatchObject([{ outcome: "updated" }]);
        await update(organization, item!.id, { type: "patched" }, soon());
        return "none";
      });
      expect(await attempt()).toMatchObject([{ outcome: "updated" }]);
      expect(requests).toBe(at);
      expect(await get(organization.id, item!.id)).toMatchObject({ item: { type: "patched" } });
    },
  );
});

describe("rows that are looked for", () => {
  it("have the outcomes that they had, and those that weren't applied have none; nothing is written", async () => {
    const { runtime, apply, applyRows } = await setUp();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ item: fc.nat(12), type: fc.constantFrom("a", "b") }), {
          minLength: 1,
          maxLength: 30,
        }),
        fc.nat(30),
        fc.nat(12),
        async (written, cut, existing) => {
          const organization = organizationWith({ id: randomUUID() });
          await apply(
            organization,
            Array.from({ length: existing }, (_, index) => ({ input: { external_id: `i-${index}`, type: "a" } })),
            soon(),
          );
          const rows = written.map(({ item, type }, index) => rowOf(index + 2, `i-${item}`, type));
          const options = optionsOfJob();
          const done = await applyRows(organization, rows.slice(0, cut), options);
          // Others change the items meanwhile.
          await apply(organization, [{ input: { external_id: "i-0", type: "of others" } }], soon());
          const commands: string[] = [];
          const stop = injectFaults(runtime.dynamodb, (command) => {
            commands.push(command);
            return "none";
          });
          const found = await applyRows(organization, rows, { ...options, recognizesOnly: true });
          stop();
          expect(rows.map((_, index) => found[index])).toEqual(rows.map((_, index) => done[index]));
          expect(commands.filter((command) => !/^(Get|BatchGet|Query)/.test(command))).toEqual([]);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("fail no more: what is wrong with them is left out", async () => {
    const { applyRows } = await setUp();
    const organization = organizationWith({ id: randomUUID() });
    const options = {
      ...optionsOfJob(),
      reader: {
        ...jsonReader,
        read: (values: readonly string[]) =>
          values[0]?.includes("wrong") ? { error: ROW_CANNOT_BE_APPLIED } : jsonReader.read(values),
      },
    };
    const rows = [rowOf(2, "right", "a"), rowOf(3, "wrong", "a")];
    const applied = await applyRows(organization, rows, options);
    expect(applied.map((result) => result?.outcome)).toEqual(["created", "error"]);
    const found = await applyRows(organization, rows, { ...options, recognizesOnly: true });
    expect([found[0]?.outcome, found[1]]).toEqual(["created", undefined]);
  });
});

describe("rows that cannot be applied", () => {
  it("fail alone if they cannot be read or planned, and are named with what was thrown", async () => {
    const { applyRows } = await setUp();
    const organization = organizationWith({ id: randomUUID() });
    const defects: number[] = [];
    const raise = (): never => {
      throw new TypeError("defect");
    };
    const read = (values: readonly string[]) => {
      const { input } = jsonReader.read(values);
      if (input.external_id === "b-3") raise();
      return { input: input.external_id === "b-4" ? Object.defineProperty(input, "status", { get: raise }) : input };
    };
    const results = await applyRows(
      organization,
      [2, 3, 4, 5].map((row) => rowOf(row, `b-${row}`, "a")),
      { ...optionsOfJob(), reader: { ...jsonReader, read }, onDefect: (row) => void defects.push(row) },
    );
    expect(results.map((result) => result?.outcome)).toEqual(["created", "error", "error", "created"]);
    const messages = results.map((result) => result?.error?.message);
    expect(messages.slice(1, 3)).toEqual(["the row cannot be applied", "the row cannot be applied"]);
    expect(defects).toEqual([3]);
  });

  it.each(["throttled", "lost response", "none"] as const)("are pending, and none has failed: %s", async (fault) => {
    const { runtime } = await setUp();
    let now = Date.now();
    const apply = createApplyRows(createApplyWorkItems({ ...runtime, clock: () => now }), () => now);
    const stop = injectFaults(runtime.dynamodb, (command) => {
      if (command === "BatchGetItemCommand") now += 8000;
      return /BatchExecute|PutItem/.test(command) ? fault : "none";
    });
    const deadline = fault === "none" ? now + 15_000 : now + 20_000;
    const error: unknown = await apply(organizationWith({ id: randomUUID() }), [rowOf(2, "w", "a")], {
      ...optionsOfJob(),
      deadline,
    }).catch((thrown: unknown) => thrown);
    stop();
    expect(error).toBeInstanceOf(StoreBusyError);
  });
});
