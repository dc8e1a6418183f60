import { expect, it } from "vitest";
import { openJobHeaders, uploadStatusSchema } from "../../../../lib/uploads/job/upload-job.ts";

const created_at = "2026-03-01T12:00:00.000Z";
const after = (seconds: number) => Date.parse(created_at) + seconds * 1000;

it.each([
  [0, "1"],
  [9, "1"],
  [60, "6"],
  [300, "30"],
  [86_400, "30"],
])("a job that is %i s old is worth another look after %s s", (age, seconds) => {
  for (const status of ["pending", "processing"] as const) {
    expect(openJobHeaders({ status, created_at }, after(age))).toEqual({ "retry-after": seconds });
  }
});

it("a job that has ended is worth none", () => {
  const ended = uploadStatusSchema.options.filter((status) => status !== "pending" && status !== "processing");
  expect(ended).toHaveLength(3);
  for (const status of ended) expect(openJobHeaders({ status, created_at }, after(60))).toEqual({});
});
