import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { ROW_LISTS } from "../../../../lib/uploads/files/row-list.ts";
import { type Frame, FrameWriter } from "../../../../lib/uploads/files/segment.ts";
import { createUploadObjects, objectKeys } from "../../../../lib/uploads/files/upload-objects.ts";
import { createWriteList, ListUnfinishedError } from "../../../../lib/uploads/files/write-list.ts";
import { type UploadJob, unclaimedPart, withNext } from "../../../../lib/uploads/job/upload-record.ts";
import { createTestRuntime } from "../../../support/runtime.ts";

const PARTS = 3;
const WINDOW_ROWS = 50;
/** Size of the pieces in which an object is written. */
const PIECE_BYTES = 5 * 1024 * 1024;
const IN_TIME = { isOver: () => false, abridge: false };

describe("the list of a job's rows", () => {
  let runtime: Awaited<ReturnType<typeof createTestRuntime>>;
  beforeAll(async () => {
    runtime = await createTestRuntime();
  });

  /** Writes the lines of so many rows as workers do: each part's in windows. */
  const writeWindows = async (rows: number, lineOf: (row: number) => string) => {
    const objects = createUploadObjects(runtime);
    const job = { organization: "acme", id: randomUUID() } as UploadJob;
    const parts = await Promise.all(
      Array.from({ length: PARTS }, async (_, number) => {
        let results = "";
        const frames: Frame[] = Array.from({ length: rows }, (_row, row) => row)
          .filter((row) => row % PARTS === number)
          .map((row) => ({ row, raw: Buffer.from(lineOf(row)) }));
        for (let window = 0; window * WINDOW_ROWS < frames.length; window++) {
          const writer = new FrameWriter();
          for (const frame of frames.slice(window * WINDOW_ROWS, (window + 1) * WINDOW_ROWS)) writer.add(frame);
          await objects.write(objectKeys.windowResults(job, number, 1, window), writer.bytes());
          results = withNext(results, 1);
        }
        return { ...unclaimedPart(number), results };
      }),
    );
    const read = async () => (await objects.readWhole(objectKeys.results(job))).toString();
    return { job, parts, read, writeList: createWriteList(runtime, objects) };
  };

  it.each([
    ["without a row", 0, 0],
    ["of a few rows", 7, 10],
    ["of several pieces, whose lines lie across their borders", 1000, 12_345],
    ["that ends with a piece", 1, PIECE_BYTES - Buffer.byteLength(ROW_LISTS.results.header()) - "0,\n".length],
    ["whose lines are longer than a piece", 3, 6 * 1024 * 1024],
  ])("%s holds every line once and in file order", async (_, rows, length) => {
    const lineOf = (row: number): string => `${row},${String.fromCodePoint(97 + (row % 26)).repeat(length)}\n`;
    const { job, parts, read, writeList } = await writeWindows(rows, lineOf);
    expect(await writeList("results", job, parts, IN_TIME)).toEqual({ rows, hasGaps: false });
    const expected = ROW_LISTS.results.header() + Array.from({ length: rows }, (_row, row) => lineOf(row)).join("");
    const written = await read();
    expect(written.length).toBe(expected.length);
    expect(written === expected).toBe(true);
  });

  it("ends when the time is over, if it may", async () => {
    const { job, parts, read, writeList } = await writeWindows(500, (row) => `${row}${"x".repeat(1000)}\n`);
    const { rows } = await writeList("results", job, parts, { isOver: () => true, abridge: true });
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThan(500);
    expect((await read()).split("\n")).toHaveLength(1 + rows + 1);
    await expect(writeList("results", job, parts, { isOver: () => true, abridge: false })).rejects.toThrow(
      ListUnfinishedError,
    );
  });
});
