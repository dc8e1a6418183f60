import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { openExportFile } from "../../../../apps/operator/commands/export-file.ts";
import { workItemId } from "../../../../lib/identity.ts";
import { changeOrganization } from "../../../../apps/operator/data/administration.ts";
import { generateCursorSecret } from "../../../../lib/organizations/organization.ts";
import {
  exportOrganization,
  exportSource,
  type ExportSource,
} from "../../../../apps/operator/data/export-organization.ts";
import { createCustomer, type Customer, fill } from "../../../support/customer-data.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const SOURCE: ExportSource = { organization: "acme", made: "m", table: "t", region: "us", ledger: "Audit" };
let runtime: TestRuntime;
let acme: Customer;
let file: string;
beforeEach(async () => {
  runtime = await createTestRuntime();
  acme = await createCustomer(runtime, "acme");
  await fill(runtime, acme);
  // More than are read at the same time.
  for (const prefix of ["a", "b", "c\u2028"]) {
    await acme.apply(...Array.from({ length: 90 }, (_, index) => ({ external_id: `${prefix}-${index}` })));
  }
  file = join(temporaryDirectory(), "acme.ndjson");
});

/** Exports into the file, as far as so many pages. */
const exportTo = async (source: ExportSource = SOURCE, pagesMax = Infinity): Promise<boolean> => {
  await using opened = await openExportFile(file, source);
  const { from, write, savePosition, finish } = opened;
  let pages = 0;
  const onWritten = async (position: Parameters<typeof savePosition>[0]): Promise<void> => {
    if (++pages > pagesMax) throw new Error("interrupted");
    await savePosition(position);
  };
  await exportOrganization(runtime, "acme", write, { from, onWritten });
  await finish();
  return from !== undefined;
};
/** All lines but the first, which has the time when the export began. */
const lines = async (): Promise<string[]> => (await readFile(file, "utf8")).trimEnd().split("\n").slice(1).toSorted();

it("has its name only when it is complete, and resumes after an interruption at any page", async () => {
  await exportTo();
  const whole = await lines();
  await rm(file);
  for (const pages of [0, 1, 2, 4, 7]) {
    await expect(exportTo(SOURCE, pages)).rejects.toThrow("interrupted");
    await expect(stat(file)).rejects.toThrow("ENOENT");
    // Bytes after the position don't count.
    await writeFile(`${file}.partial`, `${await readFile(`${file}.partial`, "utf8")}half a li`);
    expect(await exportTo()).toBe(pages > 0);
    expect(await lines()).toEqual(whole);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await expect(stat(`${file}.partial.json`)).rejects.toThrow("ENOENT");
    await rm(file);
  }
});

it("starts over if anything else was exported: another table or organization, or one that was made again", async () => {
  const made = await exportSource(runtime, "acme");
  await changeOrganization(runtime, "acme", { cursor_secret: generateCursorSecret() });
  expect(await exportSource(runtime, "acme")).toEqual({ ...made, made: expect.not.stringMatching(made.made) });
  for (const name of Object.keys(SOURCE)) {
    const other = { ...SOURCE, [name]: "other" };
    await expect(exportTo(other, 3)).rejects.toThrow("interrupted");
    expect(await exportTo()).toBe(false);
    expect(await lines()).toHaveLength(276);
    await rm(file);
  }
});

it("has each item once, also one that moved in the list while the export was interrupted", async () => {
  await expect(exportTo(SOURCE, 3)).rejects.toThrow("interrupted");
  const written = (await readFile(`${file}.partial`, "utf8")).split("\n").length;
  expect(written).toBeGreaterThan(75);
  // To the end of the list, so that each is met again; some even to the list of deleted ones.
  for (const prefix of ["a", "b", "c\u2028"]) {
    const completed = { completed_at: "2026-01-02T03:04:05Z" };
    await acme.apply(
      ...Array.from({ length: 90 }, (_, index) => ({ external_id: `${prefix}-${index}`, ...completed })),
    );
    await acme.send("deleteWorkItem", { params: { id: workItemId("acme", `${prefix}-7`) } });
  }
  expect(await exportTo()).toBe(true);
  const items = (await lines()).filter((line) => line.startsWith('{"work_item"'));
  expect(items).toHaveLength(273);
  expect(new Set(items.map((line) => line.split('"', 6)[5])).size).toBe(273);
});
