import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { Organization } from "../../../../lib/organizations/organization.ts";
import { createFinishUpload } from "../../../../lib/uploads/chain/finish.ts";
import { createChunkSender, createJobSender } from "../../../../lib/uploads/chain/messages.ts";
import { createSplitUpload } from "../../../../lib/uploads/chain/split.ts";
import { readRows, type Row } from "../../../../lib/uploads/files/frames.ts";
import { CHUNK_LAYOUT, objectKeys } from "../../../../lib/uploads/files/upload-objects.ts";
import { createWriteList } from "../../../../lib/uploads/files/write-list.ts";
import { shardOf } from "../../../../lib/uploads/job/shard-record.ts";
import type { JobKey } from "../../../../lib/uploads/job/upload-record.ts";
import { createUploads } from "../../../../lib/uploads/chain/worker-dependencies.ts";
import { createTestOrganization } from "../../../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";
import { createUploadHarness } from "../../../support/uploads/upload-harness.ts";

const LIMITS = { rows: 9, bytes: 150, shardBytes: 200 };

let runtime: TestRuntime;
let organization: Organization;
let harness: ReturnType<typeof createUploadHarness>;
beforeAll(async () => {
  runtime = await createTestRuntime();
  ({ organization } = await createTestOrganization(runtime));
  harness = createUploadHarness(runtime);
});

/** Cuts a stream into pieces of the given sizes, which are repeated. */
async function* recut(source: AsyncIterable<Uint8Array>, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.concat(await Array.fromAsync(source));
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** Splits a file that the network delivers in pieces of these sizes. @returns its job and the bytes of each chunk */
const split = async (file: string, sizes: readonly number[], isFoundAgain = true) => {
  const uploads = createUploads(runtime);
  const { objects } = uploads;
  const job = await harness.upload(organization, file);
  let asked = 0;
  const run = createSplitUpload({
    ...uploads,
    objects: { ...objects, read: (key, range) => recut(objects.read(key, range), sizes) },
    findOrganization: () => Promise.resolve(isFoundAgain || asked++ === 0 ? organization : undefined),
    sendSplit: createJobSender(runtime.sqs, runtime.environment.SPLIT_QUEUE_URL),
    sendChunks: createChunkSender(runtime),
    finish: createFinishUpload({ ...uploads, writeList: createWriteList(runtime, objects) }),
    limits: LIMITS,
  });
  await run(job, runtime.clock() + 60_000);
  return { job, chunks: await chunksOf(job) };
};
const chunksOf = async (job: JobKey) => {
  const { chunks = [] } = (await harness.store.readJob(job))!;
  const { objects } = createUploads(runtime);
  return Promise.all(
    chunks.map((count, shard) =>
      Promise.all(
        Array.from({ length: count }, async (_, number) =>
          (await objects.readWhole(objectKeys.chunk({ ...job, layout: CHUNK_LAYOUT }, shard, number))).toString(
            "base64",
          ),
        ),
      ),
    ),
  );
};
const rowsIn = async (chunk: string) => {
  async function* bytes() {
    yield Buffer.from(chunk, "base64");
  }
  return (await Array.fromAsync(readRows(bytes(), ","))).flat();
};

const text = fc.string({ unit: fc.constantFrom("a", "ü", "🙂", ",", '"', "\n", "\r\n", " "), maxLength: 12 });
const quoted = (value: string): string => `"${value.replaceAll('"', '""')}"`;
const rows = fc.array(fc.record({ item: fc.nat(30), text }), { maxLength: 120 });
const sizes = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 5 });

describe("a file", () => {
  it("gives the same chunks byte for byte however its bytes arrive, with each row once and in order", async () => {
    await fc.assert(
      fc.asyncProperty(rows, sizes, sizes, async (written, some, others) => {
        const lines = written.map(({ item, text: value }) => `i-${item},${quoted(value)}\n`);
        const file = `external_id,type\n${lines.join("")}`;
        const { job, chunks } = await split(file, some);
        expect((await split(file, others)).chunks).toEqual(chunks);

        const read = await Promise.all(chunks.map((shard) => Promise.all(shard.map(rowsIn))));
        const all = read.flat(2).toSorted((a, b) => a.row - b.row);
        expect(all.map((row) => row.text)).toEqual(lines);
        for (const [number, shard] of read.entries()) {
          const numbers = shard.flat().map(({ row }) => row);
          expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
          for (const { values } of shard.flat()) expect(shardOf(values[0]!, read.length)).toBe(number);
          const isFull = (chunk: readonly Row[]) =>
            chunk.length >= LIMITS.rows || chunk.reduce((sum, { bytes }) => sum + bytes, 0) >= LIMITS.bytes;
          // Each but a shard's last is full, and none before its last row.
          expect(shard.map(isFull).slice(0, -1)).not.toContain(false);
          expect(shard.map((chunk) => isFull(chunk.slice(0, -1)))).not.toContain(true);
        }
        const { total_rows: total, status } = (await harness.store.readJob(job))!;
        expect({ total, status }).toEqual({
          total: lines.length,
          status: lines.length === 0 ? "completed" : "processing",
        });
      }),
      { numRuns: 25 },
    );
  });

  it("is published once although two workers read it, and a shard without a row gets no message", async () => {
    await harness.take("chunks");
    const file = `external_id,type\n${"A,x\n".repeat(300)}`;
    const { job, chunks } = await split(file, [100]);
    const full = chunks.filter((shard) => shard.length > 0);
    expect([chunks.length, full.length]).toEqual([7, 1]);
    const before = await harness.store.readJob(job);
    expect(
      await harness.store.publish(job, { chunks: [1], header: "", layout: CHUNK_LAYOUT, rows: 1 }),
    ).toBeUndefined();
    expect(await harness.store.readJob(job)).toEqual(before);
    const shard = chunks.findIndex((each) => each.length > 0);
    expect(await harness.take("chunks")).toEqual([{ organization: job.organization, id: job.id, shard, chunk: 0 }]);
  });

  it("of an organization that is erased meanwhile is read no further, and published never", async () => {
    const file = `external_id\n${Array.from({ length: 200 }, (_, row) => `E-${row}\n`).join("")}`;
    const { job } = await split(file, [100], false);
    expect(await harness.store.readJob(job)).toMatchObject({ status: "processing", total_rows: 0 });
    expect((await harness.store.readJob(job))?.chunks).toBeUndefined();
  });
});
