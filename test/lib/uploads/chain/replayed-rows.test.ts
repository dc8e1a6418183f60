import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StoreBusyError } from "../../../../lib/errors.ts";
import type { RowReader } from "../../../../lib/uploads/csv/row-reader.ts";
import type { Row } from "../../../../lib/uploads/files/frames.ts";
import { type ApplyRowsOptions, createApplyRows } from "../../../../lib/uploads/chain/apply-rows.ts";
import { ROW_CANNOT_BE_APPLIED } from "../../../../lib/uploads/chain/row-result.ts";
import { createApplyWorkItems } from "../../../../lib/work-items/apply-work-items.ts";
import { createDeleteWorkItem, createUpdateWorkItem } from "../../../../lib/work-items/change-work-item.ts";
import { createRecordStore } from "../../../../lib/store/record-store.ts";
import { createGetWorkItem } from "../../../../lib/work-items/read-work-item.ts";
import { itemKeyOf } from "../../../../lib/work-items/work-item-record.ts";
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

const setUp = async (itemsAtOnce = ITEMS_AT_ONCE) => {
  const runtime = await createTestRuntime();
  const apply = createApplyWorkItems(runtime);
  const applyRows = createApplyRows(apply, runtime.clock, itemsAtOnce);
  return { runtime, apply, applyRows, get: createGetWorkItem(runtime), ...changesOf(runtime) };
};
const changesOf = (runtime: Awaited<ReturnType<typeof createTestRuntime>>) => ({
  update: createUpdateWorkItem(runtime),
  remove: createDeleteWorkItem(runtime),
});
const optionsOf = (job: string, firstRow: number) => ({
  reader: jsonReader,
  source: { job, createdAt: 1, firstRow, findEnded: () => Promise.resolve(new Set<string>()) },
  guard: () => Promise.resolve(),
  ...soon(),
});
/** A row that sets a type and adds an event. */
const rowOf = (row: number, externalId: string, type: string): Row =>
  jsonRow(row, { external_id: externalId, type, events: [{ external_id: `e-${row}`, content: "opened" }] });
const externalIdOf = ({ values }: Row): string => jsonReader.externalIdOf(values);

/** A row with a custom attribute of which an item can have one, but not two. */
const largeRow = (row: number, externalId: string, name: string): Row =>
  jsonRow(row, { external_id: externalId, custom_attributes: { [name]: "x".repeat(150 * 1024) } });

describe("rows that are applied again", () => {
  it("have the same outcomes, also where a row far behind changed the item", async () => {
    const { applyRows } = await setUp(2);
    const organization = organizationWith({ id: randomUUID() });
    const apply = async (rows: readonly Row[]) => {
      const results = await applyRows(organization, rows, optionsOf("job", rows[0]!.row));
      return Object.fromEntries(rows.map(({ row }, index) => [row, results[index]?.outcome]));
    };
    await apply([largeRow(2, "A", "first")]);
    const others = ["B", "C", "D", "E"].map((externalId, index) => jsonRow(4 + index, { external_id: externalId }));
    const window = [largeRow(3, "A", "second"), ...others, jsonRow(8, { external_id: "A", type: "late" })];
    const outcomes = { 3: "error", 4: "created", 5: "created", 6: "created", 7: "created", 8: "updated" };
    for (let attempt = 1; attempt <= 3; attempt++) expect(await apply(window)).toEqual(outcomes);
  });

  it("undo no change that others made since, wherever they stand", async () => {
    const { apply, applyRows, get, update, remove } = await setUp();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ exists: fc.boolean(), change: fc.constantFrom("none", "patch", "delete") }), {
          minLength: 1,
          maxLength: 25,
        }),
        fc.array(fc.boolean(), { minLength: 25, maxLength: 25 }),
        fc.nat(25),
        async (items, repeats, cut) => {
          const organization = organizationWith({ id: randomUUID() });
          const existing = items.flatMap(({ exists }, index) =>
            exists ? [{ input: { external_id: `i-${index}`, type: "a" } }] : [],
          );
          await apply(organization, existing, soon());
          const rows = items.flatMap((_, index) => {
            const row = rowOf(2 * index + 2, `i-${index}`, "a");
            return repeats[index] === true ? [row, rowOf(2 * index + 3, `i-${index}`, "a")] : [row];
          });
          // The worker dies after some of the rows; the next one takes another number of them.
          const done = await applyRows(organization, rows.slice(0, cut), optionsOf("job", 2));
          const expected = new Map<string, string>();
          for (const [number, { change }] of items.entries()) {
            const row = rows.find((each) => externalIdOf(each) === `i-${number}`)!;
            const result = done[rows.indexOf(row)];
            if (result === undefined || change === "none") continue;
            if (change === "patch") await update(organization, result.id, { type: "patched" }, soon());
            else await remove(organization, result.id, soon());
            // A later row of the item that was not applied yet may still change it.
            const isDone = rows.every((each, index) => externalIdOf(each) !== externalIdOf(row) || index < done.length);
            if (isDone) expected.set(result.id, change);
          }
          const again = await applyRows(organization, rows, optionsOf("job", 2));
          for (const [index, result] of done.entries()) expect(again[index]?.outcome).toBe(result?.outcome);
          for (const [id, change] of expected) {
            const type = await get(organization.id, id).then(
              ({ item }) => item.type,
              () => "deleted",
            );
            expect(type).toBe(change === "patch" ? "patched" : "deleted");
          }
        },
      ),
      { numRuns: RUNS },
    );
  });

  // Its requests: the item is read, its event is read, the item is written.
  it.each([1, 2, 3])(
    "undo no change that others made after an earlier attempt, right before request %i",
    async (at) => {
      const { runtime, apply, applyRows, get, update } = await setUp();
      const organization = organizationWith({ id: randomUUID() });
      const [item] = await apply(organization, [{ input: { external_id: "A", type: "old" } }], soon());
      const attempt = () => applyRows(organization, [rowOf(2, "A", "imported")], optionsOf("job", 2));
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

describe("rows of a dry run that are applied again, or looked for", () => {
  it("name the fields that they changed, and only those; marks of imports have none", async () => {
    const { runtime, apply, applyRows } = await setUp();
    const organization = organizationWith({ id: randomUUID() });
    await apply(organization, [{ input: { external_id: "A", type: "a", agent_name: "Ann" } }], soon());
    await apply(organization, [{ input: { external_id: "B", custom_attributes: { k: 1 } } }], soon());
    const rows = [
      jsonRow(5, { external_id: "A", status: "completed", custom_attributes: { k: 1, l: 2 } }),
      jsonRow(6, { external_id: "A", status: "completed" }),
      jsonRow(7, { external_id: "A", agent_email: "a@example.com", agent_name: null, type: "b" }),
      jsonRow(8, { external_id: "B", type: "b", events: [{ external_id: "e" }] }),
      jsonRow(9, { external_id: "B", events: [{ external_id: "e", content: "said" }] }),
      jsonRow(10, { external_id: "new", type: "b" }),
      jsonRow(11, { external_id: "new", agent_external_id: "7", completed_at: "2026-01-01T00:00:00.000Z" }),
    ];
    const fields = [
      ["status", "custom_attributes"],
      [],
      ["agent_email", "agent_name", "type"],
      ["type"],
      [],
      [],
      ["agent_external_id", "status", "completed_at"],
    ];
    const dryRun = { ...optionsOf("trial", 5), source: { ...optionsOf("trial", 5).source, dryRun: true } };
    const ran = async (options: ApplyRowsOptions) => {
      const results = await applyRows(organization, rows, options);
      return rows.map((_, index) => [results[index]?.outcome, results[index]?.changed, results[index]?.changes]);
    };
    const outcomes = ["updated", "unchanged", "updated", "updated", "updated", "created", "updated"];
    expect((await ran(dryRun)).map(([outcome, changed]) => [outcome, changed])).toEqual(
      outcomes.map((outcome, index) => [outcome, fields[index]]),
    );
    // What is shown of a row that is recognized: the names alone.
    const again = outcomes.map((outcome, index) => {
      const names = fields[index]!;
      return [outcome, names, names.length === 0 ? "" : JSON.stringify(names)];
    });
    expect(await ran(dryRun)).toEqual(again);
    // Others change the items meanwhile.
    await apply(organization, [{ input: { external_id: "A", type: "of others", status: "pending" } }], soon());
    expect(await ran({ ...dryRun, recognizesOnly: true })).toEqual(again);

    await applyRows(organization, rows, optionsOf("import", 5));
    const stored = await createRecordStore(runtime).read([itemKeyOf(organization.id, "A")]);
    expect([...stored.values()].map((record) => record["applied_rows"])).toEqual(["import:5u1n1u"]);
  });
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
          const options = optionsOf("job", 2);
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
      ...optionsOf("job", 2),
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
  it("fail alone if they cannot be read, and are named with what was thrown", async () => {
    const { applyRows } = await setUp();
    const organization = organizationWith({ id: randomUUID() });
    const defects: number[] = [];
    const results = await applyRows(
      organization,
      [2, 3, 4].map((row) => rowOf(row, `b-${row}`, "a")),
      {
        ...optionsOf("job", 2),
        reader: {
          ...jsonReader,
          read: (values: readonly string[]) => {
            if (values[0]?.includes("b-3")) throw new TypeError("defect");
            return jsonReader.read(values);
          },
        },
        onDefect: (row) => void defects.push(row),
      },
    );
    expect(results.map((result) => result?.outcome)).toEqual(["created", "error", "created"]);
    expect(results[1]?.error?.message).toBe("the row cannot be applied");
    expect(defects).toEqual([3]);
  });

  it("fail alone if they cannot be planned, also when they are applied again", async () => {
    const { applyRows } = await setUp();
    const organization = organizationWith({ id: randomUUID() });
    const rows = [rowOf(2, "p-1", "a"), rowOf(3, "p-2", "a"), rowOf(4, "p-2", "b")];
    const options = {
      ...optionsOf("job", 2),
      reader: {
        ...jsonReader,
        read: (values: readonly string[]) => {
          const { input } = jsonReader.read(values);
          const throws = { get: () => raise(), enumerable: true };
          return { input: input.type === "b" ? Object.defineProperty(input, "status", throws) : input };
        },
      },
    };
    for (let attempt = 1; attempt <= 2; attempt++) {
      const results = await applyRows(organization, rows, options);
      expect(results.map((result) => result?.outcome)).toEqual(["created", "created", "error"]);
      expect(results[2]?.error?.message).toBe("the row cannot be applied");
    }
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
      ...optionsOf("job", 2),
      deadline,
    }).catch((thrown: unknown) => thrown);
    stop();
    expect(error).toBeInstanceOf(StoreBusyError);
  });
});

const raise = (): never => {
  throw new RangeError("defect");
};
