import { expect, it } from "vitest";
import { appliedRowsIn, AppliedRows, findKnownJobs, type RowWindow } from "../../../lib/work-items/applied-rows.ts";

const windowOf = (firstRow: number): RowWindow => ({ job: "a", ended: new Set(), firstRow, withEvents: new Set() });
const rowsIn = (applied_rows: string) => new AppliedRows({ applied_rows }, windowOf(5));

it("a record remembers the rows of a window, their outcomes, and the fields that they change", () => {
  const rows = new AppliedRows(undefined, windowOf(5));
  expect(rows.outcomeOf(5)).toBe(undefined);
  rows.add(5, "updated", ["type", "agent_name"]);
  rows.add(6, "unchanged");
  const { applied_rows: text } = rows.attributes();
  expect(text).toBe("a:5uDB1n");
  const again = rowsIn(String(text));
  expect([5, 6, 7].map((row) => again.outcomeOf(row))).toEqual(["updated", "unchanged", undefined]);
  expect([5, 6, 7].map((row) => again.changedBy(row))).toEqual([["type", "agent_name"], [], []]);
  again.add(26, "error");
  expect(again.attributes()).toEqual({ applied_rows: "a:5uDB1n20e" });
  expect(appliedRowsIn(again.attributes(), "a")).toEqual([5, 6, 26]);
  expect(appliedRowsIn(again.attributes(), "b")).toEqual([]);
});

it("rows of an earlier window, and outcomes and fields of a later version, count as unchanged and are left out", () => {
  expect([4, 5, 6].map((row) => rowsIn("a:6c").outcomeOf(row))).toEqual(["unchanged", "unchanged", "created"]);
  expect(rowsIn("a:3c1u1r").attributes()).toEqual({ applied_rows: "a:5r" });
  const later = rowsIn("a:5zDZ");
  expect([later.outcomeOf(5), later.changedBy(5)]).toEqual(["unchanged", ["type"]]);
});

it("a record keeps what jobs have applied that haven't ended", () => {
  const window = { ...windowOf(5), ended: new Set(["b"]) };
  const rows = new AppliedRows({ applied_rows: "b:2u a:5c c:4n d:k=x" }, window);
  expect(rows.attributes()).toEqual({ applied_rows: "c:4n d:k=x a:5c" });
});

it("only records of other jobs cost a read of jobs", async () => {
  const asked: (readonly string[])[] = [];
  const findEnded = async (jobs: readonly string[]) => (asked.push(jobs), new Set(jobs));
  const recordOf = (applied_rows: string) => ({ pk: "p", sk: "s", version: 1, writes: "", applied_rows });
  expect(await findKnownJobs({ job: "a", findEnded }, [recordOf("a:5c")])).toEqual({ job: "a", ended: new Set() });
  expect(asked).toEqual([]);
  const records = [recordOf("a:5c b:2u"), recordOf("b:2u c:4n")];
  expect((await findKnownJobs({ job: "a", findEnded }, records)).ended).toEqual(new Set(["b", "c"]));
  expect(asked).toEqual([["b", "c"]]);
});
