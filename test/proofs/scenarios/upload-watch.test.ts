import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isoTime } from "../../../lib/clock.ts";
import { objectKeys } from "../../../lib/uploads/files/upload-objects.ts";
import { isDone, type UploadJob } from "../../../lib/uploads/job/upload-record.ts";
import { CHECK_WITHIN_MS } from "../../../lib/uploads/job/upload-store.ts";
import { failRequests, freezeIndex, keepFilesOnClock } from "../../support/faults.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { s3Event, sqsEvent } from "../../support/uploads/upload-harness.ts";
import { createUploadService, dataOf, MINUTE_MS, type UploadService } from "../../support/uploads/upload-service.ts";

const GIB = 1024 ** 3;
const FILE = "external_id\nA\nB\n";
const FORM_AGE_MS = 180 * MINUTE_MS;

const create = async (): Promise<UploadService> => {
  const made = await createUploadService();
  keepFilesOnClock(made.runtime.s3, made.clock);
  return made;
};

const writeFile = ({ harness, jobKey }: UploadService, id: string): Promise<void> =>
  harness.objects.write(objectKeys.source(jobKey(id)), Buffer.from(FILE), "text/csv");

const jobOf = async ({ harness, jobKey }: UploadService, id: string): Promise<UploadJob> =>
  (await harness.store.readJob(jobKey(id)))!;

/** Ways to upload a file. Each returns a job's id, when its file is there and S3's message is not handled yet. */
const ORIGINS = {
  "with its request": async (uploads: UploadService) => dataOf(await uploads.post(FILE)).id,
  "by a form that is three hours old": async (uploads: UploadService) => {
    const { id } = dataOf(await uploads.requestForm(5 * GIB));
    uploads.clock.advance(FORM_AGE_MS);
    await uploads.sweep();
    await writeFile(uploads, id);
    return id;
  },
};

const claimSplit = async (uploads: UploadService, id: string) => {
  const { store, objects } = uploads.harness;
  const source = (await objects.head(objectKeys.source(uploads.jobKey(id))))!;
  const claimed = await store.claim(await jobOf(uploads, id), { source });
  if (claimed === undefined) throw new Error("the file cannot be claimed");
  return claimed;
};
const publish = async (uploads: UploadService, id: string) => {
  await uploads.split(id);
  return uploads.harness.take("chunks");
};
const claimShard = async (uploads: UploadService, id: string) => {
  await publish(uploads, id);
  const { store } = uploads.harness;
  const { job, shards } = (await store.read(uploads.jobKey(id)))!;
  const claimed = await store.shards.claim(job, shards[0]!);
  if (claimed === undefined) throw new Error("the shard cannot be claimed");
};

/** Brings a job into the state in which all its rows are counted and nothing ends it. */
const countAll = async (uploads: UploadService, id: string) => {
  const [message] = await publish(uploads, id);
  let updates = 0;
  const stop = failRequests(uploads.runtime.dynamodb, (command) =>
    command.startsWith("Update") && ++updates > 2 ? { name: "Killed", httpStatusCode: 400 } : undefined,
  );
  await uploads.harness.apply(sqsEvent(message), lambdaContext(120_000));
  stop();
  const { job, shards } = (await uploads.harness.store.read(uploads.jobKey(id)))!;
  expect([job.status, ...shards.map((shard) => isDone(job, shard))]).toEqual(["processing", true]);
  return job;
};

/** Brings a job into a state in which nothing works on it and no message names it. */
const STATES: Record<string, (uploads: UploadService, id: string) => Promise<unknown>> = {
  "S3's message is sent on and lost": async (uploads, id) => {
    await uploads.harness.split(sqsEvent(s3Event(uploads.jobKey(id))), lambdaContext(120_000));
    await uploads.harness.take("split");
  },
  "the splitter dies": claimSplit,
  "the splitter waits for the store and its message is lost": async (uploads, id) =>
    uploads.harness.store.release(await claimSplit(uploads, id), uploads.clock() + 1000),
  "all shards are done and nothing ends the job": countAll,
  "the worker that merges its lists dies": async (uploads, id) => {
    const job = await countAll(uploads, id);
    expect(await uploads.harness.store.claim(job)).toBeDefined();
  },
  "it is cancelled before it is split": (uploads, id) =>
    uploads.harness.store.requestStop(uploads.jobKey(id), "cancelled"),
  "it is cancelled while its file is split": async (uploads, id) => {
    await claimSplit(uploads, id);
    await uploads.harness.store.requestStop(uploads.jobKey(id), "cancelled");
  },
  "it is cancelled while a chunk is applied": async (uploads, id) => {
    await claimShard(uploads, id);
    await uploads.harness.store.requestStop(uploads.jobKey(id), "cancelled");
  },
  "it fails before it is split": (uploads, id) =>
    uploads.harness.store.requestStop(uploads.jobKey(id), "failed", { unlessPublished: true }),
  "it fails while a chunk is applied": async (uploads, id) => {
    await claimShard(uploads, id);
    await uploads.harness.store.requestStop(uploads.jobKey(id), "failed", { error: "broken" });
  },
};

/** Lets some time pass with a sweep each minute, the first one after `phase`. */
const passTime = async (uploads: UploadService, milliseconds: number, phase: number): Promise<void> => {
  for (let passed = phase; passed <= milliseconds; passed += MINUTE_MS) {
    uploads.clock.advance(passed === phase ? phase : MINUTE_MS);
    await uploads.sweep();
  }
};

/** The index's entries: of each job its id, and when it is checked. */
const openJobs = async ({ runtime }: UploadService) => {
  const TableName = runtime.environment.WORK_ITEMS_TABLE;
  const { Items = [] } = await runtime.dynamodb.send(new ScanCommand({ TableName, IndexName: "open_jobs" }));
  return Items.map(({ open_sk: key, check_at: due }) => [String(key).split("#")[1], String(due)]);
};

describe.each(Object.entries(ORIGINS))("a job whose file came %s ends within two minutes", (_, begin) => {
  let uploads: UploadService;
  beforeAll(async () => {
    uploads = await create();
  });

  it.each(
    Object.entries(STATES).flatMap(([state, arrange]) =>
      [1000, MINUTE_MS - 1].map((phase) => [state, phase, arrange] as const),
    ),
  )("if %s, and the next sweep is %i ms later", async (state, phase, arrange) => {
    const id = await begin(uploads);
    await uploads.harness.take("split");
    await arrange(uploads, id);
    await passTime(uploads, 2 * MINUTE_MS, phase);
    await uploads.harness.drain();
    const ends = /cancelled|fails/.exec(state)?.[0].replace("fails", "failed") ?? "completed";
    expect((await uploads.get(id)).status).toBe(ends);
    expect(await openJobs(uploads)).toEqual([]);
  });
});

describe("a form", () => {
  let uploads: UploadService;
  beforeEach(async () => {
    uploads = await create();
  });

  it("of the largest size costs at most 60 looks for its file, which come in time", async () => {
    const { id } = dataOf(await uploads.requestForm(5 * GIB));
    const began = uploads.clock();
    const looks: number[] = [];
    failRequests(uploads.runtime.s3, (command) => {
      if (command === "HeadObjectCommand") looks.push(uploads.clock() - began);
      return undefined;
    });
    while ((await uploads.get(id)).status === "pending") await passTime(uploads, MINUTE_MS, MINUTE_MS);
    expect(await uploads.get(id)).toMatchObject({
      status: "failed",
      error: "the file never arrived; request a new form",
    });
    expect(looks.length).toBeLessThanOrEqual(60);
    for (const [index, look] of looks.entries()) {
      const age = looks[index - 1] ?? 0;
      expect(look - age).toBeLessThanOrEqual(Math.max(MINUTE_MS, age / 10));
    }
  });

  it.each([1, 14, 100])("that is posted after %i minutes is found without S3's message", async (minutes) => {
    const { id } = dataOf(await uploads.requestForm(5 * GIB));
    await passTime(uploads, minutes * MINUTE_MS, MINUTE_MS);
    await writeFile(uploads, id);
    await passTime(uploads, Math.max(1, minutes / 10) * MINUTE_MS, MINUTE_MS);
    await uploads.harness.drain();
    expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 2 });
  });
});

describe("a check", () => {
  let uploads: UploadService;
  let id: string;
  beforeEach(async () => {
    uploads = await create();
    id = dataOf(await uploads.requestForm(5 * GIB)).id;
  });
  const openTimes = async () => (await openJobs(uploads)).map(([, due]) => due);

  it("is not postponed for a form whose file is claimed at the same time", async () => {
    uploads.clock.advance(FORM_AGE_MS);
    const seen = await jobOf(uploads, id);
    await writeFile(uploads, id);
    const { check_at: soon } = await claimSplit(uploads, id);
    await uploads.harness.store.postponeCheck(seen, uploads.clock() + FORM_AGE_MS / 10);
    expect(soon).toBe(isoTime(uploads.clock() + CHECK_WITHIN_MS));
    expect(await openTimes()).toEqual([soon]);
  });

  it("that was postponed is pulled forward by a claim and by a stop", async () => {
    const { store } = uploads.harness;
    const postpone = async () => store.postponeCheck(await jobOf(uploads, id), uploads.clock() + FORM_AGE_MS);
    await postpone();
    expect(await openTimes()).toEqual([isoTime(uploads.clock() + FORM_AGE_MS)]);
    await writeFile(uploads, id);
    await claimSplit(uploads, id);
    const soon = isoTime(uploads.clock() + CHECK_WITHIN_MS);
    expect(await openTimes()).toEqual([soon]);
    await postpone();
    await store.requestStop(uploads.jobKey(id), "cancelled");
    expect(await openTimes()).toEqual([soon]);
    expect((await jobOf(uploads, id)).check_at).toBe(soon);
  });

  it("that many move at the same time moves once", async () => {
    const { store } = uploads.harness;
    for (let round = 0; round < 10; round++) {
      const seen = await jobOf(uploads, id);
      const times = [10, 20, 30].map((minutes) => uploads.clock() + minutes * MINUTE_MS);
      await Promise.all(times.map((at) => store.postponeCheck(seen, at)));
      const moved = await jobOf(uploads, id);
      expect(times.map(isoTime)).toContain(moved.check_at);
      expect(moved.resent).toBe(seen.resent);
      expect(await openTimes()).toEqual([moved.check_at]);
      uploads.clock.advance(5 * MINUTE_MS);
    }
  });

  it("moved to the time that it has leaves the job as it is", async () => {
    const seen = await jobOf(uploads, id);
    await uploads.harness.store.postponeCheck(seen, Date.parse(seen.check_at!));
    expect(await jobOf(uploads, id)).toEqual(seen);
    expect(await openTimes()).toEqual([seen.check_at]);
  });

  it("of a job that has ended or was postponed, which the index doesn't show yet, changes nothing", async () => {
    const { store } = uploads.harness;
    const looks: string[] = [];
    failRequests(uploads.runtime.s3, (command) => {
      looks.push(command);
      return undefined;
    });
    const ended = dataOf(await uploads.requestForm(10)).id;
    uploads.clock.advance(FORM_AGE_MS);
    freezeIndex(uploads.runtime.dynamodb, "open_jobs");
    const due = await store.dueJobs(uploads.clock());
    expect(due.map((job) => job.id).toSorted()).toEqual([id, ended].toSorted());

    await store.postponeCheck(await jobOf(uploads, id), uploads.clock() + MINUTE_MS);
    await uploads.cancel(ended);
    const before = await Promise.all([id, ended].map((each) => jobOf(uploads, each)));
    expect(await store.dueJobs(uploads.clock())).toEqual(due);
    await uploads.sweep();
    expect(looks).toEqual([]);
    expect(await Promise.all([id, ended].map((each) => jobOf(uploads, each)))).toEqual(before);
  });
});
