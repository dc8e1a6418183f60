import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Row } from "../../../../lib/uploads/files/segment.ts";
import { createApplyRows, RowsPendingError } from "../../../../lib/uploads/workers/apply-rows.ts";
import { createApplyWorkItems } from "../../../../lib/work-items/apply-work-items.ts";
import { createDeleteWorkItem, createUpdateWorkItem } from "../../../../lib/work-items/change-work-item.ts";
import { createGetWorkItem } from "../../../../lib/work-items/read-work-item.ts";
import { injectFaults } from "../../../support/faults.ts";
import { organizationWith } from "../../../support/organization.ts";
import { createTestRuntime } from "../../../support/runtime.ts";
import { jsonReader, jsonRow } from "../../../support/uploads/json-rows.ts";

const ITEMS_AT_ONCE = 5;
const RUNS = 30;
const soon = () => ({ deadline: Date.now() + 20_000 });

const setUp = async () => {
  const runtime = await createTestRuntime();
  const apply = createApplyWorkItems(runtime);
  const applyRows = createApplyRows(apply, runtime.clock, ITEMS_AT_ONCE);
  return { runtime, apply, applyRows, get: createGetWorkItem(runtime), ...changesOf(runtime) };
};
const changesOf = (runtime: Awaited<ReturnType<typeof createTestRuntime>>) => ({
  update: createUpdateWorkItem(runtime),
  remove: createDeleteWorkItem(runtime),
});
const optionsOf = (job: string, firstRow: number, assumeNew: boolean) => ({
  reader: jsonReader,
  source: { job, firstRow, findEnded: () => Promise.resolve(new Set<string>()) },
  assumeNew,
  guard: () => undefined,
  ...soon(),
});
/** A row that sets a type and adds an event. */
const rowOf = (row: number, externalId: string, type: string): Row =>
  jsonRow(row, { external_id: externalId, type, events: [{ external_id: `e-${row}`, content: "opened" }] });
const externalIdOf = ({ cells }: Row): string => jsonReader.externalIdOf(cells);

describe("rows that are applied again", () => {
  it.each([true, false])(
    "undo no change that others made since, wherever they stand; assumed new: %s",
    async (isNew) => {
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
            const done = await applyRows(organization, rows.slice(0, cut), optionsOf("job", 2, isNew));
            const expected = new Map<string, string>();
            for (const [index, { change }] of items.entries()) {
              const row = rows.find((each) => externalIdOf(each) === `i-${index}`)!;
              const result = done[rows.indexOf(row)];
              if (result === undefined || change === "none") continue;
              if (change === "patch") await update(organization, result.id, { type: "patched" }, soon());
              else await remove(organization, result.id, soon());
              // A later row of the item that was not applied yet may still change it.
              const isDone = rows.every(
                (each, place) => externalIdOf(each) !== externalIdOf(row) || place < done.length,
              );
              if (isDone) expected.set(result.id, change);
            }
            const again = await applyRows(organization, rows, optionsOf("job", 2, isNew));
            for (const [place, { outcome }] of done.entries()) expect(again[place]?.outcome).toBe(outcome);
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
    },
  );
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
        ...optionsOf("job", 2, false),
        reader: {
          ...jsonReader,
          read: (values) => {
            if (values[0]?.includes("b-3")) throw new TypeError("defect");
            return jsonReader.read(values);
          },
        },
        onDefect: (row) => defects.push(row),
      },
    );
    expect(results.map(({ outcome }) => outcome)).toEqual(["created", "error", "created"]);
    expect(results[1]?.error?.message).toBe("the row cannot be applied");
    expect(defects).toEqual([3]);
  });

  it("fail alone if they cannot be planned, also when they are applied again", async () => {
    const { applyRows } = await setUp();
    const organization = organizationWith({ id: randomUUID() });
    const rows = [rowOf(2, "p-1", "a"), rowOf(3, "p-2", "a"), rowOf(4, "p-2", "b")];
    const options = {
      ...optionsOf("job", 2, false),
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
      expect(results.map(({ outcome }) => outcome)).toEqual(["created", "created", "error"]);
      expect(results[2]?.error?.message).toBe("the row cannot be applied");
    }
  });

  it.each([
    ["throttled", "refused"],
    ["lost response", "refused"],
    ["none", "time"],
  ] as const)("are pending, and say why: %s", async (fault, reason) => {
    const { runtime } = await setUp();
    let now = Date.now();
    const apply = createApplyRows(createApplyWorkItems({ ...runtime, clock: () => now }), () => now);
    const stop = injectFaults(runtime.dynamodb, (command) => {
      if (command === "BatchGetItemCommand") now += 8000;
      return /BatchExecute|PutItem/.test(command) ? fault : "none";
    });
    const deadline = fault === "none" ? now + 15_000 : now + 20_000;
    const error: unknown = await apply(organizationWith({ id: randomUUID() }), [rowOf(2, "w", "a")], {
      ...optionsOf("job", 2, false),
      deadline,
    }).catch((thrown: unknown) => thrown);
    stop();
    expect(error).toBeInstanceOf(RowsPendingError);
    expect(error).toMatchObject({ reason, firstRow: 2, count: 1 });
  });
});

const raise = (): never => {
  throw new RangeError("defect");
};
