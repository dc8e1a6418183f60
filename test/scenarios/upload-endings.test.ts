import { randomUUID } from "node:crypto";
import { GetQueueAttributesCommand, ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import type { Context } from "aws-lambda";
import { beforeEach, describe, expect, it } from "vitest";
import { objectKeys } from "../../lib/uploads/files/upload-objects.ts";
import type { UploadShard } from "../../lib/uploads/job/shard-record.ts";
import { CLAIM_MS } from "../../lib/uploads/job/claim.ts";
import { aroundRequests, failRequests } from "../support/faults.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { createDyingUploads } from "../support/uploads/dying-workers.ts";
import { splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import { createUploadService, manyRows, MINUTE_MS, type UploadService } from "../support/uploads/upload-service.ts";

let uploads: UploadService;
/** Workers reserve 30 s for the last window. The remaining time stands still, as the clock does. */
const closeToTheLimit: Context = { ...lambdaContext(), getRemainingTimeInMillis: () => 30_000 };

beforeEach(async () => {
  uploads = await createUploadService();
});

/** Takes the messages of chunks. @returns the numbers of their shards */
const takeShards = async (): Promise<number[]> =>
  (await uploads.harness.take("chunks")).map(({ shard }) => Number(shard)).toSorted((a, b) => a - b);

/** Claims shards as workers do that die afterwards. */
const claim = async (id: string, ...numbers: readonly number[]): Promise<UploadShard[]> => {
  const { job, shards } = (await uploads.harness.store.read(uploads.jobKey(id)))!;
  const claimed = await Promise.all(numbers.map((number) => uploads.harness.store.shards.claim(job, shards[number]!)));
  return claimed.map((shard) => {
    if (shard === undefined) throw new Error("the shard cannot be claimed");
    return shard;
  });
};

describe("the sweep", () => {
  it("fails a job whose file did not arrive with its request", async () => {
    const { job } = await uploads.harness.store.create(
      uploads.organization,
      { id: randomUUID(), origin: "request" },
      uploads.clock(),
    );
    uploads.clock.advance(1);
    await uploads.sweep();
    expect(await uploads.get(job.id)).toMatchObject({
      status: "failed",
      error: "the file did not arrive; upload it again",
    });
  });

  it("sends messages for the at most eight shards whose message was lost, but not for busy ones", async () => {
    const id = await uploads.begin(manyRows(20_000));
    expect(await takeShards()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    await claim(id, 2);

    uploads.clock.advance(2 * MINUTE_MS + 1);
    await claim(id, 1);
    await uploads.sweep();
    expect(await takeShards()).toEqual([0, 2, 3, 4, 5, 6, 7]);
    await uploads.sweep();
    expect(await takeShards()).toEqual([]);
  });

  it("keeps no ended job among the open ones", async () => {
    await uploads.run("external_id\nS-3\n");
    await uploads.run("broken\n");
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nS-4\n");
    await uploads.cancel(id);
    expect(await uploads.harness.store.dueJobs(uploads.clock() + 60 * MINUTE_MS)).toEqual([]);
    expect(await uploads.harness.store.openJobsOf(uploads.organization.id)).toEqual([]);
  });
});

describe("a job ends", () => {
  it("when its file is gone", async () => {
    const { job } = await uploads.harness.store.create(
      uploads.organization,
      { id: randomUUID(), origin: "request" },
      uploads.clock() + MINUTE_MS,
    );
    await uploads.split(job.id);
    expect(await uploads.get(job.id)).toMatchObject({
      status: "failed",
      error: "the file was deleted before it was read",
    });
  });

  it("when its file is empty", async () => {
    expect(await uploads.run("")).toMatchObject({ status: "failed", error: "the file is empty", total_rows: 0 });
  });

  it("with correct counters when a chunk is deleted before it is applied", async () => {
    const id = await uploads.begin(manyRows(6000));
    const job = (await uploads.harness.store.readJob(uploads.jobKey(id)))!;
    const [first, ...others] = await uploads.harness.take("chunks");
    await uploads.harness.apply(sqsEvent(first), lambdaContext(120_000));
    const { succeeded_rows } = await uploads.get(id);
    expect(succeeded_rows).toBeGreaterThan(0);
    await uploads.harness.remove(objectKeys.chunk(job, Number(others[0]?.["shard"]), 0));
    for (const message of others) await uploads.harness.apply(sqsEvent(message), lambdaContext(120_000));
    expect(await uploads.get(id)).toMatchObject({
      status: "failed",
      error: "the file was deleted before all rows were applied; some of the last rows may be applied and not counted",
      succeeded_rows,
    });
  });

  it("with correct counters when failed rows are deleted before they are listed", async () => {
    const rows = Array.from({ length: 1300 }, (_, row) => `F-${row},unheard-of\n`).join("");
    const id = await uploads.begin(`external_id,status\n${rows}`);
    const [message] = await uploads.harness.take("chunks");
    // This one hands over after the first 1,000 rows.
    await uploads.harness.apply(sqsEvent(message), closeToTheLimit);
    await uploads.harness.remove(objectKeys.lines(uploads.jobKey(id), "failed_rows", 0, 1));
    await uploads.harness.drain();
    expect(await uploads.get(id)).toMatchObject({
      status: "completed",
      failed_rows: 1300,
      error: "failed_rows lists 300 of 1300: the others were deleted before they could be listed",
    });
  });

  it("without its lists when they can't be written for a day", async () => {
    const id = await uploads.begin("external_id,status\nU-1,\nU-2,unheard-of\n");
    const stop = failRequests(uploads.runtime.s3, (command, { Key }) =>
      command === "GetObjectCommand" && String(Key).includes("/results/")
        ? { name: "AccessDenied", httpStatusCode: 403 }
        : undefined,
    );
    for (const hours of [0, 23, 2]) {
      expect(await uploads.get(id)).toMatchObject({ status: "processing" });
      uploads.clock.advance(hours * 60 * MINUTE_MS);
      await uploads.sweep();
      for (const message of await uploads.harness.take("chunks"))
        await uploads.harness.apply(sqsEvent(message), lambdaContext(120_000));
    }
    stop();
    expect(await uploads.get(id)).toMatchObject({
      status: "completed",
      error: "failed_rows and results could not be written for a day",
      succeeded_rows: 1,
      failed_rows: 1,
    });
    expect(await uploads.results(id)).toMatchObject({ url: null, rows: 2 });
  });

  it("without its lists when all workers die that write them for a day", async () => {
    const id = await uploads.begin(manyRows(2500));
    const requested = async (): Promise<readonly Record<string, unknown>[]> => {
      for (const message of await uploads.harness.take("chunks"))
        await uploads.harness.apply(sqsEvent(message), closeToTheLimit);
      return uploads.harness.take("split");
    };
    let messages = await requested();
    while (messages.length === 0) messages = await requested();
    // The worker gets no further than its claim.
    const job = (await uploads.harness.store.readJob(uploads.jobKey(id)))!;
    expect(await uploads.harness.store.claim(job)).toBeDefined();
    uploads.clock.advance(25 * 60 * MINUTE_MS);
    await uploads.harness.split(sqsEvent(messages[0]), lambdaContext(900_000));
    expect(await uploads.get(id)).toMatchObject({
      status: "completed",
      error: "failed_rows and results could not be written for a day",
      succeeded_rows: 2500,
    });
  });

  it("when the file is replaced between two runs of the splitter", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nE-1\n");
    const job = (await uploads.harness.store.readJob(uploads.jobKey(id)))!;
    const source = { etag: '"other"', size: 17, writtenAt: new Date(uploads.clock()) };
    expect(await uploads.harness.store.claim(job, { source })).toBeDefined();
    uploads.clock.advance(CLAIM_MS + 1);
    await uploads.split(id);
    expect(await uploads.get(id)).toMatchObject({ status: "failed", error: "the file was replaced while it was read" });
  });

  it("but not by messages that come again", async () => {
    const id = await uploads.begin("external_id\nD-2\n");
    await uploads.split(id);
    const [message, ...others] = await uploads.harness.take("chunks");
    expect(others).toEqual([]);
    for (let delivery = 0; delivery < 20; delivery++) {
      await uploads.harness.apply(sqsEvent(message), lambdaContext(120_000));
      await uploads.split(id);
    }
    expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 1 });
    const { batchItemFailures } = await uploads.harness.apply(sqsEvent("not a message"), lambdaContext());
    expect(batchItemFailures).toHaveLength(1);
    expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 1 });
  });
});

describe("a worker close to its time limit", () => {
  it("leaves the rest of the rows to another, which continues after the last counted row", async () => {
    // Short rows: the file has one shard.
    const rows = Array.from({ length: 2500 }, (_, row) => `S-${row}\n`).join("");
    const id = await uploads.begin(`external_id\n${rows}`);
    let deliveries = 0;
    for (
      let [message] = await uploads.harness.take("chunks");
      message;
      [message] = await uploads.harness.take("chunks")
    ) {
      deliveries++;
      // This one hands over after its first window.
      const { batchItemFailures } = await uploads.harness.apply(sqsEvent(message), closeToTheLimit);
      expect(batchItemFailures).toEqual([]);
      expect(await uploads.get(id)).toMatchObject({ succeeded_rows: Math.min(2500, 1000 * deliveries) });
    }
    expect(deliveries).toBe(3);
    expect(await uploads.get(id)).toMatchObject({ status: "processing" });
    expect(await uploads.harness.deliver("split")).toBe(1);
    const { error, ...job } = await uploads.get(id);
    expect({ error, ...job }).toMatchObject({ error: undefined, status: "completed", succeeded_rows: 2500 });
  });

  describe("that has applied the last row, with more failed rows than it can list", () => {
    const FAILED = 1500;
    const failing = `external_id,status\n${Array.from({ length: FAILED }, (_, row) => `F-${row},unheard-of\n`).join("")}`;
    /** Applies all rows. @returns the message that requests the lists */
    const applyAll = async (): Promise<{ id: string; message: Record<string, unknown> }> => {
      const id = await uploads.begin(failing);
      for (const _ of [1, 2]) {
        const [message] = await uploads.harness.take("chunks");
        await uploads.harness.apply(sqsEvent(message), closeToTheLimit);
      }
      const [message, ...others] = await uploads.harness.take("split");
      expect(others).toEqual([]);
      if (message === undefined) throw new Error("no message requests the lists");
      return { id, message };
    };

    it("leaves the report to another, which has the time", async () => {
      const { id, message } = await applyAll();
      expect(await uploads.get(id)).toMatchObject({ status: "processing", failed_rows: FAILED });
      await uploads.harness.split(sqsEvent(message), lambdaContext(120_000));
      const { error, ...job } = await uploads.get(id);
      expect({ error, ...job }).toMatchObject({ error: undefined, status: "completed", failed_rows: FAILED });
      const { url } = await uploads.failedRows(id);
      expect((await (await fetch(url ?? "")).text()).trimEnd().split("\n")).toHaveLength(1 + FAILED);
    });

    it("says how many the report lists where a whole run is not enough", async () => {
      const { id, message } = await applyAll();
      await uploads.harness.split(sqsEvent(message), closeToTheLimit);
      const job = await uploads.get(id);
      expect(job).toMatchObject({ status: "completed", total_rows: FAILED, failed_rows: FAILED });
      const { url } = await uploads.failedRows(id);
      const listed = (await (await fetch(url ?? "")).text()).trimEnd().split("\n").length - 1;
      expect(listed).toBeLessThan(FAILED);
      expect(job["error"]).toBe(`failed_rows lists the first ${listed} of ${FAILED}`);
    });
  });
});

/** Lets the sweep run each minute, and workers handle what it sends. @returns the minutes until the job has ended */
const minutesToEnd = async ({ clock, sweep, harness, get }: UploadService, id: string): Promise<number> => {
  const start = clock();
  while ((await get(id))["status"] === "processing" && clock() < start + 60 * MINUTE_MS) {
    clock.advance(MINUTE_MS);
    await sweep();
    await harness.drain();
  }
  return (clock() - start) / MINUTE_MS;
};

describe("a worker that dies", () => {
  it("while it reads a file leaves it to the sweep: the queue hides its message for an hour and a half", async () => {
    const dying = await createDyingUploads();
    const { sqs, environment } = dying.runtime;
    const { id } = await dying.harness.upload(dying.organization, manyRows(2000));
    const MessageBody = JSON.stringify(splitMessage(dying.jobKey(id)));
    const QueueUrl = environment.SPLIT_QUEUE_URL;
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
    const { Messages: [message] = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl }));
    let chunks = 0;
    const hasDied = await dying.work("split", JSON.parse(message!.Body!) as object, (command) =>
      command === "PutObjectCommand" ? ++chunks === 3 : false,
    );
    expect([hasDied, await dying.get(id)]).toMatchObject([true, { status: "processing", total_rows: 0 }]);

    expect(await minutesToEnd(dying, id)).toBe(1);
    const ended = await dying.get(id);
    expect(ended).toMatchObject({ status: "completed", total_rows: 2000, created_rows: 2000 });
    const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }));
    expect(Attributes).toMatchObject({
      VisibilityTimeout: String(90 * 60),
      ApproximateNumberOfMessages: "0",
      ApproximateNumberOfMessagesNotVisible: "1",
    });
    // Then it comes again.
    expect(await dying.work("split", JSON.parse(message!.Body!) as object, () => false)).toBe(false);
    expect(await dying.harness.take("chunks")).toEqual([]);
    expect(await dying.get(id)).toEqual(ended);
  });

  it.each([
    ["of rows", ["chunks"]],
    ["of files", ["chunks", "split"]],
  ] as const)("while it merges lists leaves them to the sweep, if it is one %s", async (_, deaths) => {
    const dying = await createDyingUploads();
    const id = await dying.begin(manyRows(3));
    const [chunks = {}] = await dying.harness.take("chunks");
    const messages = { chunks, split: splitMessage(dying.jobKey(id)) };
    for (const [before, queue] of deaths.entries()) {
      dying.clock.advance(before * (CLAIM_MS + 1));
      // The first object of a worker of rows has the lines of the window.
      let left = queue === "chunks" ? 2 : 1;
      const isList = (command: string): boolean => command === "PutObjectCommand" && --left === 0;
      expect(await dying.work(queue, messages[queue], isList)).toBe(true);
      expect(await dying.get(id)).toMatchObject({ status: "processing", succeeded_rows: 3 });
    }
    // As long as the claim lasts, the message has no effect.
    for (const queue of ["chunks", "split"] as const) {
      expect(await dying.work(queue, messages[queue], () => false)).toBe(false);
    }
    expect(await dying.get(id)).toMatchObject({ status: "processing", succeeded_rows: 3 });
    expect(await minutesToEnd(dying, id)).toBe(1);
    expect(await dying.get(id)).toMatchObject({ status: "completed", succeeded_rows: 3 });
    expect(await dying.resultLines(id)).toHaveLength(3);
  });
});

describe("lists", () => {
  /** A job whose rows are counted and whose lists aren't merged. @returns its id and a message about it for each queue */
  const counted = async (rows: number) => {
    // Short rows: the file has one shard.
    const id = await uploads.begin(`external_id\n${Array.from({ length: rows }, (_, row) => `${row}\n`).join("")}`);
    const [message = {}] = await uploads.harness.take("chunks");
    const stop = failRequests(uploads.runtime.dynamodb, (command, { Key }) =>
      command.startsWith("Update") && JSON.stringify(Key).includes("#JOB")
        ? { name: "Killed", httpStatusCode: 400 }
        : undefined,
    );
    await uploads.harness.apply(sqsEvent(message), lambdaContext(120_000));
    stop();
    expect(await uploads.get(id)).toMatchObject({ status: "processing", succeeded_rows: rows });
    return { id, chunks: message, split: splitMessage(uploads.jobKey(id)) };
  };
  /** Calls a function before each list is written. */
  const beforeLists = (act: () => Promise<unknown>) =>
    aroundRequests(uploads.runtime.s3, async (command, { Key }: { Key?: string }, send) => {
      if (command === "PutObjectCommand" && Key?.endsWith(".csv")) await act();
      return send();
    });

  it.each(["chunks", "split"] as const)("are merged by one worker, however many get a message of %s", async (queue) => {
    const { id, ...messages } = await counted(3);
    let lists = 0;
    const stop = beforeLists(async () => void lists++);
    const worker = queue === "split" ? uploads.harness.split : uploads.harness.apply;
    const workers = [1, 2, 3].map(() => worker(sqsEvent(messages[queue]), lambdaContext(120_000)));
    for (const { batchItemFailures } of await Promise.all(workers)) expect(batchItemFailures).toEqual([]);
    stop();
    expect(lists).toBe(1);
    expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 3 });
  });

  it("that are being merged when their job is cancelled belong to the cancelled job at once", async () => {
    const { id, split } = await counted(3);
    const { store } = uploads.harness;
    const stop = beforeLists(() => store.requestStop(uploads.jobKey(id), "cancelled"));
    await uploads.harness.split(sqsEvent(split), lambdaContext(120_000));
    stop();
    expect(await uploads.get(id)).toMatchObject({ status: "cancelled", succeeded_rows: 3 });
    expect(await uploads.resultLines(id)).toHaveLength(3);
  });

  it("are given back by a worker that the store refuses, so that the next one needn't wait", async () => {
    const { id, chunks } = await counted(3);
    let updates = 0;
    const stop = failRequests(uploads.runtime.dynamodb, (command) =>
      command.startsWith("Update") && ++updates === 2
        ? { name: "ThrottlingException", httpStatusCode: 400 }
        : undefined,
    );
    await uploads.harness.apply(sqsEvent(chunks), lambdaContext(120_000));
    stop();
    expect(await uploads.get(id)).toMatchObject({ status: "processing" });
    await uploads.harness.apply(sqsEvent(chunks), lambdaContext(120_000));
    expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 3 });
  });

  it("that take longer than five seconds are left to workers of files", async () => {
    const { id, chunks } = await counted(2500);
    const stop = aroundRequests(uploads.runtime.s3, async (command, _, send) => {
      if (command === "GetObjectCommand") uploads.clock.advance(5000);
      return send();
    });
    await uploads.harness.apply(sqsEvent(chunks), lambdaContext(120_000));
    stop();
    expect(await uploads.get(id)).toMatchObject({ status: "processing" });
    expect(await uploads.harness.take("split")).toEqual([splitMessage(uploads.jobKey(id))]);
    await uploads.harness.split(sqsEvent(splitMessage(uploads.jobKey(id))), lambdaContext(120_000));
    expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 2500 });
    expect(await uploads.resultLines(id)).toHaveLength(2500);
  });
});

describe("a duplicate of a message whose shard is busy", () => {
  it("is done with, and writes and sends nothing", async () => {
    const id = await uploads.begin("external_id\nH-1\n");
    await claim(id, 0);
    const [message] = await uploads.harness.take("chunks");
    const commands: string[] = [];
    const stop = failRequests(uploads.runtime.dynamodb, (command) => {
      commands.push(command);
      return undefined;
    });
    const { batchItemFailures } = await uploads.harness.apply(sqsEvent(message), lambdaContext(120_000));
    stop();
    expect(batchItemFailures).toEqual([]);
    // The first call of a process also reads which version the stored data has.
    expect(commands).toEqual(["GetItemCommand", "QueryCommand"]);
    expect(await uploads.harness.take("chunks")).toEqual([]);
    expect(await uploads.get(id)).toMatchObject({ status: "processing", succeeded_rows: 0 });
  });
});
