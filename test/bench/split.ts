import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { Upload } from "@aws-sdk/lib-storage";
import { create as createSplitLargeUpload } from "../../functions/split-large-upload.ts";
import { createWriteList } from "../../lib/uploads/files/write-list.ts";
import { FrameWriter } from "../../lib/uploads/files/frames.ts";
import { createUploadObjects, objectKeys } from "../../lib/uploads/files/upload-objects.ts";
import { uploadBucketRecordSchema, type UploadJob } from "../../lib/uploads/job/upload-record.ts";
import { UploadStore } from "../../lib/uploads/job/upload-store.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { createTestOrganization } from "../support/organization.ts";
import { createTestRuntime } from "../support/runtime.ts";
import { splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import { withEngines } from "./engines.ts";
import { type BenchRow, rowsOf } from "./row.ts";

/** How long one run takes for the largest file, computed from smaller ones; `SPLIT_MIB` chooses their size. */

const { fact, within } = rowsOf("split");
const MIB = 1024 ** 2;
const SIZE = Number(process.env["SPLIT_MIB"] ?? 1024) * MIB;
const LARGEST = 5 * 1024 * MIB;
/** Half of the time of a worker of large files, in seconds. */
const WITHIN_SECONDS = 450;
/** Below the S3 engine's limit of 11 MiB for a body. */
const PIECE_BYTES = 8 * MIB;
const LINES_AT_ONCE = 1000;
const BUCKETS = 8;

/** A file with rows of so many bytes. */
function* fileOf(rowBytes: number): Generator<string> {
  yield "external_id,custom_attributes.text\n";
  const text = "x".repeat(rowBytes - 14);
  for (let row = 0; row * rowBytes < SIZE;) {
    let lines = "";
    for (let count = 0; count < LINES_AT_ONCE; count++) lines += `${String(row++).padStart(12, "0")},${text}\n`;
    yield lines;
  }
}

/** Seconds, and CPU seconds of this process. */
const timed = async (work: () => Promise<unknown>) => {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { seconds: (performance.now() - start) / 1000, cpuSeconds: (user + system) / 1e6 };
};

const measureSplit = async (): Promise<BenchRow[]> => {
  const runtime = await createTestRuntime();
  const { organization } = await createTestOrganization(runtime);
  const store = new UploadStore(runtime);
  const objects = createUploadObjects(runtime);
  const split = createSplitLargeUpload(runtime);
  const rows: BenchRow[] = [];
  const add = (
    name: string,
    { seconds, cpuSeconds }: { readonly seconds: number; readonly cpuSeconds: number },
  ): void => {
    const times = LARGEST / SIZE;
    rows.push(
      fact(`${name}, ${SIZE / MIB} MiB`, seconds, "s"),
      within(`${name}, 5 GiB, computed`, seconds * times, "s", WITHIN_SECONDS),
      fact(`CPU of that`, cpuSeconds * times, "s"),
    );
  };

  for (const rowBytes of [50, 2048]) {
    const { job } = await store.create(organization, { id: randomUUID(), origin: "form" }, Date.now() + 3_600_000);
    const params = {
      Bucket: runtime.environment.UPLOADS_BUCKET,
      Key: objectKeys.source(job),
      Body: Readable.from(fileOf(rowBytes)),
    };
    await new Upload({ client: runtime.s3, params, partSize: PIECE_BYTES, queueSize: 1 }).done();
    add(
      `cutting rows of ${rowBytes} bytes`,
      await timed(() => split(sqsEvent(splitMessage(job)), lambdaContext(900_000))),
    );
    const { chunks } = (await store.readJob(job)) ?? {};
    if (chunks === undefined) throw new Error("the file is not in chunks");
  }

  // The lines of short rows, as the claims of eight buckets leave them.
  const job = { organization: organization.id, id: randomUUID() } as UploadJob;
  const line = (row: number): string => `${row},${String(row).padStart(12, "0")},${randomUUID()},created\n`;
  const all = Math.floor(SIZE / 50);
  const buckets = await Promise.all(
    Array.from({ length: BUCKETS }, async (_, number) => {
      let claim = 0;
      for (let row = number; row < all;) {
        const frames = new FrameWriter();
        for (let count = 0; count < LINES_AT_ONCE && row < all; count++, row += BUCKETS) frames.addText(row, line(row));
        await objects.write(objectKeys.lines(job, "results", number, ++claim), frames.bytes());
      }
      return uploadBucketRecordSchema.parse({ number, counted: `1-${claim}` });
    }),
  );
  const writeList = createWriteList(runtime, objects);
  const time = { isOver: () => false, note: () => Promise.resolve() };
  add(
    "merging the results of rows of 50 bytes",
    await timed(() => writeList("results", { job, buckets }, "merged", time, false)),
  );
  rows.push(fact("peak memory", process.resourceUsage().maxRSS / 1024, "MB"));
  return rows;
};

/** Measures how long files are cut, and lists merged. */
export const measure = (): Promise<BenchRow[]> => withEngines(measureSplit);
