import { randomUUID } from "node:crypto";
import { DeleteObjectCommand } from "@aws-sdk/client-s3";
import { beforeAll, describe, expect, it } from "vitest";
import { RESULTS_HEADER } from "../../../../lib/uploads/files/row-list.ts";
import { type Frame, FrameWriter } from "../../../../lib/uploads/files/frames.ts";
import { createUploadObjects, ObjectGoneError, objectKeys } from "../../../../lib/uploads/files/upload-objects.ts";
import { createWriteList, type ListTime } from "../../../../lib/uploads/files/write-list.ts";
import { claimsIn, uploadShardRecordSchema, withClaim } from "../../../../lib/uploads/job/shard-record.ts";
import type { UploadJob } from "../../../../lib/uploads/job/upload-record.ts";
import { createTestRuntime } from "../../../support/runtime.ts";

const SHARDS = 3;
const WINDOW_ROWS = 50;
/** Size of the pieces in which an object is written. */
const PIECE_BYTES = 5 * 1024 * 1024;
const IN_TIME = { isOver: () => false, keepClaim: () => Promise.resolve() };

describe("the list of a job's rows", () => {
  let runtime: Awaited<ReturnType<typeof createTestRuntime>>;
  beforeAll(async () => {
    runtime = await createTestRuntime();
  });

  /** Writes the lines of so many rows as workers do: each shard's in windows. Every third claim counts nothing. */
  const writeWindows = async (rows: number, lineOf: (row: number) => string) => {
    const objects = createUploadObjects(runtime);
    const job = { organization: "acme", id: randomUUID() } as UploadJob;
    const shards = await Promise.all(
      Array.from({ length: SHARDS }, async (_, number) => {
        let counted = "";
        let claim = 0;
        const frames: Frame[] = Array.from({ length: rows }, (_row, row) => row)
          .filter((row) => row % SHARDS === number)
          .map((row) => ({ row, raw: Buffer.from(lineOf(row)) }));
        for (let window = 0; window * WINDOW_ROWS < frames.length; window++) {
          const writer = new FrameWriter();
          for (const frame of frames.slice(window * WINDOW_ROWS, (window + 1) * WINDOW_ROWS)) writer.add(frame);
          const write = () => objects.write(objectKeys.lines(job, "results", number, ++claim), writer.bytes());
          // Its worker wrote it and died before its rows counted.
          if (claim % 3 === 1) await write();
          await write();
          counted = withClaim(counted, claim);
        }
        return uploadShardRecordSchema.parse({ number, counted });
      }),
    );
    const writeList = createWriteList(runtime, objects);
    return {
      job,
      shards,
      read: async () => (await objects.readWhole(objectKeys.list(job, "results", "first"))).toString(),
      write: (time: ListTime, mayEndEarly = true) => writeList("results", { job, shards }, "first", time, mayEndEarly),
    };
  };

  it.each([
    ["without a row", 0, 0],
    ["of a few rows", 7, 10],
    ["of several pieces, whose lines lie across their borders", 1000, 12_345],
    ["that ends with a piece", 1, PIECE_BYTES - Buffer.byteLength(RESULTS_HEADER) - "0,\n".length],
    ["whose lines are longer than a piece", 3, 6 * 1024 * 1024],
  ])("%s holds every line once and in file order", async (_, rows, length) => {
    const lineOf = (row: number): string => `${row},${String.fromCodePoint(97 + (row % 26)).repeat(length)}\n`;
    const { read, write } = await writeWindows(rows, lineOf);
    expect(await write(IN_TIME, false)).toEqual({ rows, isWhole: true });
    const expected = RESULTS_HEADER + Array.from({ length: rows }, (_row, row) => lineOf(row)).join("");
    const written = await read();
    expect(written.length).toBe(expected.length);
    expect(written === expected).toBe(true);
  });

  it("ends when the time is over, if it may; otherwise there is none", async () => {
    const { read, write } = await writeWindows(500, (row) => `${row}${"x".repeat(1000)}\n`);
    const late = { ...IN_TIME, isOver: () => true };
    const unfinished = await write(late, false);
    expect(unfinished.isWhole).toBe(false);
    await expect(read()).rejects.toThrow(ObjectGoneError);
    const { rows, isWhole } = await write(late);
    expect(isWhole).toBe(false);
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThan(500);
    const lines = (await read()).split("\n");
    expect(lines).toHaveLength(1 + rows + 1);
    expect(lines[rows]).toBe(`${rows - 1}${"x".repeat(1000)}`);
  });

  it("lacks the lines of an object that was deleted", async () => {
    const { job, shards, read, write } = await writeWindows(500, (row) => `${row}\n`);
    const [claim = 0] = claimsIn(shards[1]!.counted);
    const key = objectKeys.lines(job, "results", 1, claim);
    await runtime.s3.send(new DeleteObjectCommand({ Bucket: runtime.environment.UPLOADS_BUCKET, Key: key }));
    expect(await write(IN_TIME)).toEqual({ rows: 500 - WINDOW_ROWS, isWhole: true });
    const lines = (await read()).trimEnd().split("\n").slice(1);
    const gone = (row: number) => row % SHARDS === 1 && row < SHARDS * WINDOW_ROWS;
    expect(lines.map(Number)).toEqual(Array.from({ length: 500 }, (_, row) => row).filter((row) => !gone(row)));
  });

  it("says now and then that it is being written", async () => {
    const { write } = await writeWindows(500, (row) => `${row}${"x".repeat(1000)}\n`);
    let renewals = 0;
    const keepClaim = async (): Promise<void> => void renewals++;
    expect(await write({ ...IN_TIME, keepClaim })).toEqual({ rows: 500, isWhole: true });
    expect(renewals).toBe(Math.floor((500 * 1004) / (64 * 1024)));
  });
});
