import { describe, expect, it } from "vitest";
import type { Row } from "../../../../lib/uploads/files/frames.ts";
import { createApplyRows } from "../../../../lib/uploads/chain/apply-rows.ts";
import { createApplyWorkItems } from "../../../../lib/work-items/apply-work-items.ts";
import { organizationWith } from "../../../support/organization.ts";
import { createTestRuntime } from "../../../support/runtime.ts";
import { jsonReader, jsonRow } from "../../../support/uploads/json-rows.ts";

const ITEMS_AT_ONCE = 2;
const organization = organizationWith();

const setUp = async () => {
  const runtime = await createTestRuntime();
  const applyRows = createApplyRows(createApplyWorkItems(runtime), runtime.clock, ITEMS_AT_ONCE);
  /** Applies rows of one window. @returns their outcomes by row number */
  const apply = async (rows: readonly Row[], assumeNew: boolean) => {
    const results = await applyRows(organization, rows, {
      reader: jsonReader,
      source: { job: "job", createdAt: 1, firstRow: rows[0]!.row, findEnded: () => Promise.resolve(new Set<string>()) },
      deadline: Date.now() + 20_000,
      assumeNew,
      guard: () => Promise.resolve(),
    });
    return Object.fromEntries(rows.map(({ row }, place) => [row, results[place]?.outcome]));
  };
  return { apply };
};

const row = (number: number, externalId: string, fields: object = {}): Row =>
  jsonRow(number, { external_id: externalId, ...fields });
/** Custom attributes that an item can have one of, but not two. */
const large = (name: string) => ({ custom_attributes: { [name]: "x".repeat(150 * 1024) } });

describe("rows of a window", () => {
  it("have the same outcomes when they are applied again, also where a row far behind changed the item", async () => {
    const { apply } = await setUp();
    await apply([row(2, "A", large("first"))], true);
    const others = ["B", "C", "D", "E"].map((externalId, index) => row(4 + index, externalId));
    const window = [row(3, "A", large("second")), ...others, row(8, "A", { type: "late" })];
    const outcomes = { 3: "error", 4: "created", 5: "created", 6: "created", 7: "created", 8: "updated" };
    expect(await apply(window, false)).toEqual(outcomes);
    expect(await apply(window, false)).toEqual(outcomes);
    expect(await apply(window, true)).toEqual(outcomes);
  });
});
