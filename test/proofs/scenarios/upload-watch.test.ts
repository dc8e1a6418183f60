import { PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isoTime } from "../../../lib/clock.ts";
import { objectKeys } from "../../../lib/uploads/files/upload-objects.ts";
import { CHECK_WITHIN_MS } from "../../../lib/uploads/job/open-uploads.ts";
import type { UploadJob } from "../../../lib/uploads/job/upload-record.ts";
import { recordKeys } from "../../../lib/uploads/job/upload-table.ts";
import { failRequests } from "../../support/faults.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { keepFilesOnClock } from "../../support/uploads/files-on-clock.ts";
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
  const claim = await store.claimSplit(uploads.jobKey(id), { ...source, parts: 1 });
  if (claim.state === "refused") throw new Error("the job cannot be claimed");
  return claim.record;
};
const publish = async (uploads: UploadService, id: string) => {
  await uploads.split(id);
  return uploads.harness.take("parts");
};
const claimPart = async (uploads: UploadService, id: string) => {
  await publish(uploads, id);
  const claim = await uploads.harness.store.claimPart(await jobOf(uploads, id), 0);
  if (claim.state === "refused") throw new Error("the part cannot be claimed");
  return claim.record;
};

/** Brings a job into a state in which nothing works on it and no message names it. */
const STATES: Record<string, (uploads: UploadService, id: string) => Promise<unknown>> = {
  "S3's message is sent on and lost": async (uploads, id) => {
    await uploads.harness.split(sqsEvent(s3Event(uploads.jobKey(id))), lambdaContext(120_000));
    await uploads.harness.take("split");
  },
  "the splitter dies": claimSplit,
  "the splitter waits for the store and its message is lost": async (uploads, id) =>
    uploads.harness.store.releaseSplit(await claimSplit(uploads, id), true),
  "no part is claimed": publish,
  "a part's worker dies": claimPart,
  "a part waits for the store and its message is lost": async (uploads, id) =>
    uploads.harness.store.releasePart(uploads.jobKey(id), await claimPart(uploads, id), {
      stalls: 0,
      busy_since: uploads.clock(),
    }),
  "all parts are done and nothing ends the job": async (uploads, id) => {
    const [message] = await publish(uploads, id);
    const stop = failRequests(uploads.runtime.dynamodb, (command) =>
      command === "TransactWriteCommand" ? { name: "Killed", httpStatusCode: 400 } : undefined,
    );
    await uploads.harness.apply(sqsEvent(message), lambdaContext(120_000));
    stop();
    expect((await uploads.harness.store.read(uploads.jobKey(id)))?.parts).toMatchObject([{ state: "done" }]);
  },
  "it is cancelled before it is split": (uploads, id) =>
    uploads.harness.store.requestStop(uploads.jobKey(id), "cancelled"),
  "it is cancelled while its file is split": async (uploads, id) => {
    await claimSplit(uploads, id);
    await uploads.harness.store.requestStop(uploads.jobKey(id), "cancelled");
  },
  "it is cancelled while a part is applied": async (uploads, id) => {
    await claimPart(uploads, id);
    await uploads.harness.store.requestStop(uploads.jobKey(id), "cancelled");
  },
  "it fails before it is split": (uploads, id) =>
    uploads.harness.store.requestStop(uploads.jobKey(id), "failed", { unlessPublished: true }),
  "it fails while a part is applied": async (uploads, id) => {
    await claimPart(uploads, id);
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

const openRecords = async ({ runtime }: UploadService) => {
  const shards = await Promise.all(
    Array.from({ length: 8 }, (_, shard) =>
      runtime.dynamodb.send(
        new QueryCommand({
          TableName: runtime.environment.WORK_ITEMS_TABLE,
          KeyConditionExpression: "pk = :pk",
          ExpressionAttributeValues: { ":pk": `OPEN_UPLOADS#${shard}` },
        }),
      ),
    ),
  );
  return shards.flatMap(({ Items = [] }) => Items.map((item) => [item["id"], String(item["sk"]).split("#")[0]]));
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
  )("if %s, and the next sweep is %i ms later", async (_state, phase, arrange) => {
    const id = await begin(uploads);
    await uploads.harness.take("split");
    await arrange(uploads, id);
    await passTime(uploads, 2 * MINUTE_MS, phase);
    await uploads.harness.drain();
    expect((await uploads.get(id)).status).toMatch(/^(completed|cancelled|failed)$/);
    expect(await openRecords(uploads)).toEqual([]);
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
  const openTimes = async () => (await openRecords(uploads)).map(([, due]) => due);

  it("is not postponed for a form whose file is claimed at the same time", async () => {
    uploads.clock.advance(FORM_AGE_MS);
    const seen = await jobOf(uploads, id);
    await writeFile(uploads, id);
    await claimSplit(uploads, id);
    await uploads.harness.store.openUploads.postponeCheck(seen, uploads.clock() + FORM_AGE_MS / 10);
    expect((await jobOf(uploads, id)).next_check).toBe(seen.next_check);
  });

  it("that was postponed is pulled forward by a claim and by a stop", async () => {
    const { store } = uploads.harness;
    const postpone = async () =>
      store.openUploads.postponeCheck(await jobOf(uploads, id), uploads.clock() + FORM_AGE_MS);
    await postpone();
    await writeFile(uploads, id);
    await claimSplit(uploads, id);
    const soon = isoTime(uploads.clock() + CHECK_WITHIN_MS);
    expect(await openTimes()).toEqual([soon]);
    await postpone();
    await store.requestStop(uploads.jobKey(id), "cancelled");
    expect(await openTimes()).toEqual([soon]);
    expect((await jobOf(uploads, id)).next_check).toBe(soon);
  });

  it("that many move at the same time leaves exactly one open record", async () => {
    const { store } = uploads.harness;
    for (let round = 0; round < 10; round++) {
      const seen = await jobOf(uploads, id);
      const now = uploads.clock();
      await Promise.all([
        ...[1, 2, 3].map((wait) =>
          store.openUploads.postponeCheck(seen, now + wait * 10 * MINUTE_MS).catch(() => undefined),
        ),
        store.openUploads.watch(uploads.jobKey(id)),
        store.openUploads.watch(uploads.jobKey(id)),
      ]);
      expect(await openTimes()).toEqual([(await jobOf(uploads, id)).next_check]);
      uploads.clock.advance(5 * MINUTE_MS);
    }
  });

  it("moved to the time that it has leaves its open record", async () => {
    const seen = await jobOf(uploads, id);
    await uploads.harness.store.openUploads.postponeCheck(seen, Date.parse(seen.next_check!));
    expect(await openTimes()).toEqual([seen.next_check]);
  });

  it("by an open record of an earlier check removes that record and no other", async () => {
    const job = uploads.jobKey(id);
    const { next_check: due } = await jobOf(uploads, id);
    const old = { ...recordKeys.open(job, isoTime(uploads.clock() - MINUTE_MS)), ...job };
    await uploads.runtime.dynamodb.send(
      new PutCommand({ TableName: uploads.runtime.environment.WORK_ITEMS_TABLE, Item: old }),
    );
    await uploads.sweep();
    expect(await openTimes()).toEqual([due]);
    // The organization's count still holds the job.
    const { Count } = await uploads.runtime.dynamodb.send(
      new QueryCommand({
        TableName: uploads.runtime.environment.WORK_ITEMS_TABLE,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": recordKeys.openOf(job).pk },
      }),
    );
    expect(Count).toBe(1);
  });
});
