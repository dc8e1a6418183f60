import { beforeEach, describe, expect, it } from "vitest";
import { CLAIM_MS } from "../../lib/uploads/job/claim.ts";
import { createWorkers } from "../support/uploads/upload-workers.ts";
import { DeleteObjectCommand } from "@aws-sdk/client-s3";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import { TIME_TO_LIVE } from "../../lib/resources.ts";
import { getItem } from "../../lib/store/batch-get.ts";
import type { RecordKey } from "../../lib/store/versioned-record.ts";
import { objectKeys } from "../../lib/uploads/files/upload-objects.ts";
import { shardKey } from "../../lib/uploads/job/shard-store.ts";
import { jobKey } from "../../lib/uploads/job/upload-store.ts";
import { overwrite } from "../support/customer-data.ts";
import { createDyingUploads, RESULTS } from "../support/uploads/dying-workers.ts";
import { splitMessage } from "../support/uploads/upload-harness.ts";
import { dataOf } from "../support/uploads/upload-service.ts";

let uploads: Awaited<ReturnType<typeof createDyingUploads>>;
beforeEach(async () => {
  uploads = await createDyingUploads();
});

describe("a cancelled job", () => {
  /** Runs a worker that writes rows, and dies before it has counted them. */
  const dieBeforeCounting = async () => {
    const [message] = await uploads.harness.take("chunks");
    expect(await uploads.work("chunks", message!, (command) => command === "PutObjectCommand")).toBe(true);
  };

  it("that is an upload is undone with the rows that it had not counted", async () => {
    const { id } = dataOf(await uploads.post("external_id,type\na,b\nc,d\n"));
    await uploads.split(id);
    await dieBeforeCounting();
    expect(await uploads.find("a")).toBeDefined();
    await uploads.harness.store.requestStop(uploads.jobKey(id), "cancelled");
    expect(await uploads.end(id)).toMatchObject({ status: "cancelled" });
    const undo = await uploads.askForUndo(id);
    uploads.clock.advance(CLAIM_MS);
    expect(await uploads.finish(undo)).toMatchObject({ total_rows: 2, deleted_rows: 2 });
    expect(await uploads.find("a")).toBeUndefined();
  });

  it("that is an undo counts what it has undone", async () => {
    const id = await uploads.prepare("");
    const undo = await uploads.askForUndo(id);
    await uploads.split(undo);
    await dieBeforeCounting();
    await uploads.harness.store.requestStop(uploads.jobKey(undo), "cancelled");
    expect(await uploads.end(undo)).toMatchObject({
      status: "cancelled",
      deleted_rows: 1,
      undone_rows: 1,
      partly_undone_rows: 1,
      kept_rows: 1,
    });
    expect((await uploads.resultLines(undo)).join()).toContain(RESULTS.used);
  });
});

describe("an undo of an upload that has lost", () => {
  const remove = async (key: RecordKey) => {
    const { dynamodb, environment } = uploads.runtime;
    await dynamodb.send(new DeleteCommand({ TableName: environment.WORK_ITEMS_TABLE, Key: key }));
  };
  const undone = async (id: string) => {
    const undo = await uploads.askForUndo(id);
    uploads.clock.advance(CLAIM_MS);
    await uploads.split(undo);
    const { status, error, deleted_rows: deleted } = await uploads.get(undo);
    return { status, error, deleted, isKept: (await uploads.find("a")) !== undefined };
  };
  const failed = (error: string) => ({ status: "failed", error, deleted: 0, isKept: true });

  it("the record of a shard with chunks fails, however it ended", async () => {
    const { id } = await uploads.run("external_id\na\nb\n");
    await remove(shardKey(uploads.jobKey(id), 0));
    expect(await undone(id)).toEqual(failed("the import's records of shards 0 are missing; nothing was undone"));
  });

  it("some of its rows fails", async () => {
    const { id } = await uploads.run("external_id\na\nb\n");
    await overwrite(uploads.runtime, "WORK_ITEMS_TABLE", shardKey(uploads.jobKey(id), 0), "rows_before", 1);
    expect(await undone(id)).toEqual(failed("the import counted 2 rows, and its chunks have 1; nothing was undone"));
  });

  it("a chunk fails before it ends", async () => {
    const { id } = await uploads.run("external_id\na\nb\n");
    const { s3, environment } = uploads.runtime;
    const job = (await uploads.harness.store.readJob(uploads.jobKey(id)))!;
    const Key = objectKeys.chunk(job, 0, 0);
    await s3.send(new DeleteObjectCommand({ Bucket: environment.UPLOADS_BUCKET, Key }));
    const undo = await uploads.askForUndo(id);
    uploads.clock.advance(CLAIM_MS);
    expect(await uploads.finish(undo)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("deleted") as string,
    });
    expect(await uploads.find("a")).toBeDefined();
  });

  it("rows only while it is undone isn't completed", async () => {
    const { id } = await uploads.run("external_id\na\nb\n");
    const undo = await uploads.askForUndo(id);
    uploads.clock.advance(CLAIM_MS);
    await uploads.split(undo);
    await overwrite(uploads.runtime, "WORK_ITEMS_TABLE", jobKey(uploads.jobKey(undo)), "total_rows", 3);
    const error = "the import has 3 rows, of which 2 were found";
    expect(await uploads.finish(undo)).toMatchObject({ status: "failed", error, deleted_rows: 2 });
  });
});

it("records of shards are kept for 35 days after their job has ended, not after it was created", async () => {
  const { id } = dataOf(await uploads.post("external_id\na\nb\n"));
  uploads.clock.advance(2 * 86_400_000);
  await uploads.finish(id);
  const { dynamodb, environment, clock } = uploads.runtime;
  const kept = await getItem(dynamodb, environment.WORK_ITEMS_TABLE, shardKey(uploads.jobKey(id), 0));
  expect(kept?.[TIME_TO_LIVE]).toBeGreaterThanOrEqual(clock() / 1000 + 35 * 86_400);
});

it("an undo whose message is lost is found by the sweep", async () => {
  const { id } = await uploads.run("external_id\na\n");
  const undo = await uploads.askForUndo(id);
  await uploads.harness.take("split");
  expect(await uploads.end(undo)).toMatchObject({ status: "completed", deleted_rows: 1 });
});

it("an upload with more rows than fit in a chunk is undone row by row from its own chunks", async () => {
  const names = Array.from({ length: 600 }, (_, index) => `i${(index * 37) % 150}`);
  // Their chunks have 70 rows at most, and windows 60.
  const workers = createWorkers(uploads.runtime);
  const take = async () => {
    const messages = await Promise.all((["split", "chunks"] as const).map(uploads.harness.take));
    return messages.flat().map((message) => JSON.stringify(message));
  };
  const drain = async (): Promise<void> => {
    for (let messages = await take(); messages.length > 0; messages = await take()) {
      for (const message of messages) await workers.handle(message, uploads.clock() + 60_000);
    }
  };
  const text = `external_id,type\n${names.map((name, row) => `${name},t${row}\n`).join("")}`;
  const { id } = await workers.upload(uploads.organization, { text });
  await uploads.runtime.sqs.send(
    new SendMessageCommand({
      QueueUrl: uploads.runtime.environment.SPLIT_QUEUE_URL,
      MessageBody: JSON.stringify(splitMessage(uploads.jobKey(id))),
    }),
  );
  await drain();
  expect((await workers.store.read(uploads.jobKey(id)))!.job.chunks).toEqual([9]);
  uploads.clock.advance(CLAIM_MS);
  const undo = await uploads.askForUndo(id);
  await drain();
  expect(await uploads.get(undo)).toMatchObject({ status: "completed", total_rows: 600, deleted_rows: 600 });
  expect((await uploads.resultLines(undo)).map((line) => line.split(",")[1])).toEqual(names);
  for (const name of new Set(names)) expect(await uploads.find(name)).toBeUndefined();
});
