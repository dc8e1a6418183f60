import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { create as createApplyWorkItemBatch } from "../../functions/apply-work-item-batch.ts";
import { create as createCancelUpload } from "../../functions/cancel-work-item-upload.ts";
import { create as createFailDeadUpload } from "../../functions/fail-dead-upload.ts";
import { create as createGetFailedRows } from "../../functions/get-work-item-upload-failed-rows.ts";
import { create as createGetUpload } from "../../functions/get-work-item-upload.ts";
import { create as createListUploads } from "../../functions/list-work-item-uploads.ts";
import { create as createSweepUploads } from "../../functions/sweep-uploads.ts";
import { create as createUploadWorkItems } from "../../functions/upload-work-items.ts";
import { type JobKey, objectKeys } from "../../lib/uploads/upload-objects.ts";
import { findStaleParts } from "../../lib/uploads/sweep-uploads.ts";
import { LEASE_MS } from "../../lib/uploads/upload-record.ts";
import { createTestClock } from "../support/clock.ts";
import { type ApiRequest, call, createTestOrganization, lambdaContext } from "../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";
import { createUploadHarness, s3Event, sqsEvent } from "./upload-harness.ts";

const MINUTE_MS = 60_000;
const UPLOAD = "/v1/work_items/upload";

let clock: ReturnType<typeof createTestClock>;
let runtime: TestRuntime;
let organization: Awaited<ReturnType<typeof createTestOrganization>>["organization"];
let key: string;
let harness: ReturnType<typeof createUploadHarness>;

beforeEach(async () => {
  clock = createTestClock();
  runtime = await createTestRuntime({ clock });
  ({ organization, key } = await createTestOrganization(runtime));
  harness = createUploadHarness(runtime);
});

type Job = { id: string; status: string; error?: string; [name: string]: unknown };
const dataOf = ({ text }: { text: string }) => (JSON.parse(text) as { data: Job }).data;

const jobKey = (id: string): JobKey => ({ organization: organization.id, id });
const get = async (id: string) =>
  dataOf(await call(createGetUpload(runtime), { resource: `${UPLOAD}/{id}`, params: { id }, key }));
const cancel = (id: string) =>
  call(createCancelUpload(runtime), { method: "DELETE", resource: `${UPLOAD}/{id}`, params: { id }, key });
const failedRows = async (id: string) =>
  dataOf(
    await call(createGetFailedRows(runtime), { resource: `${UPLOAD}/{id}/failed_rows`, params: { id }, key }),
  ) as unknown as {
    url: string | null;
    expires_at: string | null;
    rows: number;
  };
const list = async (query: ApiRequest["query"] = {}) => {
  const answer = await call(createListUploads(runtime), { resource: UPLOAD, query, key });
  return { status: answer.status, ...(JSON.parse(answer.text) as { data: Job[]; meta: { page: { next?: string } } }) };
};
const askForForm = (size: number, headers: Record<string, string> = {}) =>
  call(createUploadWorkItems(runtime), {
    method: "POST",
    resource: UPLOAD,
    body: { upload: { filename: "items.csv", size } },
    headers,
    key,
  });
const sweep = () => createSweepUploads(runtime)({}, lambdaContext(120_000));
const split = (id: string) => harness.split(sqsEvent(s3Event(jobKey(id))), lambdaContext(120_000));
const manyRows = (rows: number) =>
  `external_id,custom_attributes.text\n${Array.from({ length: rows }, (_, row) => `L-${row},${"x".repeat(100)}`).join("\n")}\n`;

/** Uploads a file and runs it to its end. */
const run = async (file: string) => {
  const { id } = await harness.upload(organization, file);
  await split(id);
  await harness.drain();
  return get(id);
};

describe("the report of failed rows", () => {
  const file =
    '\uFEFFexternal_id,_error,completed_at,"type",_row,custom_attributes\r\n' +
    'R-1,old,yesterday,"a ""quoted"" type",9,\r\n' +
    "R-2,,,good,,\r\n" +
    "R-3,,,\r\n" +
    'R-4,,,b,,"{""n"": 1}",extra\r\n' +
    "\r\n" +
    ",,,c,,[1]\r\n" +
    'R-5,,,"two\nlines",,{';

  it("holds the file's own columns as they are, the row's number and what is wrong in which column", async () => {
    const { id, ...job } = await run(file);
    expect(job).toMatchObject({ status: "completed", total_rows: 6, succeeded_rows: 1, failed_rows: 5 });
    const { url, expires_at, rows } = await failedRows(id);
    expect({ rows, expires_at }).toEqual({ rows: 5, expires_at: new Date(clock() + 15 * MINUTE_MS).toISOString() });
    const report = await (await fetch(url!)).text();
    const timeProblem = "completed_at: must be an RFC 3339 date-time with offset, such as 2026-01-31T09:30:00Z";
    expect(report).toBe(
      'external_id,completed_at,"type",custom_attributes,_row,_error\r\n' +
        `R-1,yesterday,"a ""quoted"" type",,2,"${timeProblem}"\r\n` +
        "R-3,,,,4,the row has 4 cells where the header has 6\r\n" +
        'R-4,,b,"{""n"": 1}",5,the row has 7 cells where the header has 6,extra\r\n' +
        ",,c,[1],7,custom_attributes: must be a JSON object\r\n" +
        'R-5,,"two\nlines",{,8,custom_attributes: must be a JSON object\n',
    );
  });

  it("can be mended and uploaded as it is", async () => {
    const { id } = await run(
      "external_id,completed_at,type\nM-1,yesterday,a\nM-2,2026-01-31T09:30:00Z,b\nM-3,tomorrow,c\n",
    );
    const report = await (await fetch((await failedRows(id)).url!)).text();
    const again = await run(report.replace("yesterday", "2026-01-30T09:30:00Z"));
    expect(again).toMatchObject({ status: "completed", total_rows: 2, succeeded_rows: 1, failed_rows: 1 });
    const rest = await (await fetch((await failedRows(again.id)).url!)).text();
    expect(
      rest
        .split("\n")
        .slice(0, 2)
        .map((line) => line.split(",").slice(0, 4)),
    ).toEqual([
      ["external_id", "completed_at", "type", "_row"],
      ["M-3", "tomorrow", "c", "3"],
    ]);
  });

  it("is in the file's order although parts fail at once", async () => {
    const rows = Array.from(
      { length: 6000 },
      (_, row) => `O-${row},${row % 3 === 0 ? "wrong" : ""},${"x".repeat(100)}`,
    );
    const { id, failed_rows } = await run(`external_id,status,custom_attributes.text\n${rows.join("\n")}\n`);
    expect(failed_rows).toBe(2000);
    const report = await (await fetch((await failedRows(id)).url!)).text();
    const numbers = report
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => Number(line.split(",")[3]));
    expect(numbers).toEqual(Array.from({ length: 2000 }, (_, index) => 2 + 3 * index));
  });

  it("has no address while the job runs, and where no row failed", async () => {
    const { id } = await harness.upload(organization, "external_id\nN-1\n");
    expect(await failedRows(id)).toEqual({ url: null, expires_at: null, rows: 0 });
    await split(id);
    await harness.drain();
    expect(await failedRows(id)).toEqual({ url: null, expires_at: null, rows: 0 });
  });
});

describe("the list of uploads", () => {
  it("gives every job once, newest first, on pages of any size", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 7; count++) {
      clock.advance(1000);
      ids.unshift((await harness.upload(organization, "external_id\nA\n")).id);
    }
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const { data, meta } = await list({ limit: 3, ...(cursor !== undefined && { cursor }) });
      listed.push(...data.map(({ id }) => id));
      cursor = meta.page.next;
    } while (cursor !== undefined);
    expect(listed).toEqual(ids);
  });

  it("shows counters as the single job does, and filters by status", async () => {
    const done = await run("external_id,status\nA,\nB,wrong\n");
    const running = await harness.upload(organization, "external_id\nC\n");
    await split(running.id);
    const { data } = await list({ status: "completed" });
    expect(data).toEqual([await get(done.id)]);
    expect((await list({ status: "processing" })).data).toEqual([await get(running.id)]);
    expect((await list({ status: "pending" })).data).toEqual([]);
    expect((await list({ status: "gone" })).status).toBe(422);
  });
});

describe("cancelling", () => {
  it("ends a pending job, again answers 200, and applies nothing that comes later", async () => {
    const { id } = await harness.upload(organization, "external_id\nC-1\n");
    for (const attempt of [1, 2]) {
      const { status, text } = await cancel(id);
      expect({ attempt, status, job: dataOf({ text }).status }).toEqual({ attempt, status: 200, job: "cancelled" });
    }
    await split(id);
    await harness.drain();
    expect(await get(id)).toMatchObject({ status: "cancelled", total_rows: 0, succeeded_rows: 0 });
  });

  it("stops each part at its next checkpoint, counts what was applied, and goes no further", async () => {
    const { id } = await harness.upload(organization, manyRows(6000));
    await split(id);
    const delivering = harness.deliverParts();
    while ((await get(id))["succeeded_rows"] === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const { status, text } = await cancel(id);
    expect({ status, job: dataOf({ text }) }).toMatchObject({
      status: 200,
      job: { status: "cancelled", total_rows: 6000 },
    });
    await delivering;
    await harness.drain();
    const job = await get(id);
    expect(job).toEqual(dataOf({ text }));
    expect(job["succeeded_rows"]).toBeLessThan(6000);
    const applyBatch = createApplyWorkItemBatch(runtime);
    let made = 0;
    for (let row = 0; row < 6000; row += 100) {
      const work_items = Array.from({ length: 100 }, (_, index) => ({
        external_id: `L-${row + index}`,
        custom_attributes: { text: "x".repeat(100) },
      }));
      const answer = await call(applyBatch, {
        method: "POST",
        resource: "/v1/work_items/batch",
        body: { work_items, dry_run: true },
        key,
      });
      made += (dataOf(answer) as unknown as { summary: { unchanged: number } }).summary.unchanged;
    }
    expect(made).toBe(job["succeeded_rows"]);
  });

  it("answers 409 where the job has completed or failed", async () => {
    const completed = await run("external_id\nC-2\n");
    expect((await cancel(completed.id)).status).toBe(409);
    const failed = await run("nothing\n");
    expect(failed).toMatchObject({ status: "failed", error: expect.stringContaining('unknown column "nothing"') });
    expect((await cancel(failed.id)).status).toBe(409);
  });
});

describe("a form", () => {
  it("names the job's own key, the exact size and when it expires", async () => {
    const { status, text } = await askForForm(123);
    const { data, meta } = JSON.parse(text) as {
      data: Job;
      meta: { upload: { url: string; fields: Record<string, string>; expires_at: string } };
    };
    expect({ status, job: data.status }).toEqual({ status: 202, job: "pending" });
    expect(meta.upload.expires_at).toBe(new Date(clock() + 15 * MINUTE_MS).toISOString());
    expect(meta.upload.fields["key"]).toBe(objectKeys.source(jobKey(data.id)));
    const policy = JSON.parse(Buffer.from(meta.upload.fields["Policy"]!, "base64").toString()) as {
      conditions: unknown[];
    };
    expect(policy.conditions).toContainEqual(["content-length-range", 123, 123]);
    expect(policy.conditions).toContainEqual({ key: objectKeys.source(jobKey(data.id)) });
  });

  it.each([0, -1, 1.5, 5 * 1024 ** 3 + 1])("is refused for a size of %s", async (size) => {
    expect((await askForForm(size)).status).toBe(422);
  });

  it("takes the same way as any upload once the file is there", async () => {
    const file = "external_id\nF-1\nF-2\n";
    const { id } = dataOf(await askForForm(file.length));
    await harness.objects.write(objectKeys.source(jobKey(id)), Buffer.from(file));
    await split(id);
    await harness.drain();
    expect(await get(id)).toMatchObject({ status: "completed", total_rows: 2, succeeded_rows: 2 });
  });

  it("whose file never comes fails its job after it has expired and the slowest line has had its time", async () => {
    const { id } = dataOf(await askForForm(256_000 * 600));
    clock.advance(20 * MINUTE_MS);
    await sweep();
    expect(await get(id)).toMatchObject({ status: "pending" });
    clock.advance(6 * MINUTE_MS);
    await sweep();
    expect(await get(id)).toMatchObject({ status: "failed", error: "the file never came; ask for a new form" });
  });
});

describe("an Idempotency-Key", () => {
  it("gives the same job for the same request and refuses another", async () => {
    const first = await askForForm(10, { "Idempotency-Key": "k" });
    const second = await askForForm(10, { "Idempotency-Key": "k" });
    expect(dataOf(second).id).toBe(dataOf(first).id);
    expect((await askForForm(11, { "Idempotency-Key": "k" })).status).toBe(422);
    expect((await list()).data).toHaveLength(1);
  });
});

describe("the sweep", () => {
  it("sends the splitter after a file whose event was lost", async () => {
    const { id } = await harness.upload(organization, "external_id\nS-1\n");
    clock.advance(3 * MINUTE_MS);
    await sweep();
    await harness.drain();
    expect(await get(id)).toMatchObject({ status: "completed", succeeded_rows: 1 });
  });

  it("fails a job whose file did not arrive with its request", async () => {
    const { job } = await harness.store.create(organization, { id: randomUUID(), origin: "request" }, clock());
    clock.advance(1);
    await sweep();
    expect(await get(job.id)).toMatchObject({ status: "failed", error: "the file did not arrive; upload it again" });
  });

  it("sends parts whose message was lost, no more than four, and leaves alone what is under way", async () => {
    const { id } = await harness.upload(organization, manyRows(45_000));
    await split(id);
    const messages = await harness.take("parts");
    expect(new Set(messages.map(({ part }) => part))).toEqual(new Set([0, 1, 2, 3]));
    const job = (await harness.store.readJob(jobKey(id)))!;
    expect(job.part_count).toBe(8);
    await harness.store.claimPart(job, 2);

    clock.advance(2 * MINUTE_MS + 1);
    await harness.store.claimPart(job, 1);
    await sweep();
    expect(new Set((await harness.take("parts")).map(({ part }) => part))).toEqual(new Set([0, 2, 3]));
    await sweep();
    expect(await harness.take("parts")).toEqual([]);
  });

  it("sends a part on as soon as the lease of its dead worker has lapsed", async () => {
    const { id } = await harness.upload(organization, manyRows(15_000));
    await split(id);
    const job = (await harness.store.readJob(jobKey(id)))!;
    await harness.store.claimPart(job, 0);
    const snapshot = (await harness.store.read(jobKey(id)))!;
    expect(findStaleParts(snapshot, clock() + LEASE_MS)).toEqual([]);
    expect(findStaleParts(snapshot, clock() + LEASE_MS + 1).map(({ number }) => number)).toEqual([0]);
  });

  it("finishes a job whose last worker was lost before it could", async () => {
    const { id } = await harness.upload(organization, "external_id\nS-2\n");
    await split(id);
    const job = (await harness.store.readJob(jobKey(id)))!;
    const claim = await harness.store.claimPart(job, 0);
    if (claim.state !== "claimed") throw new Error("the part is not ours");
    await harness.store.savePart(job, claim.record, { segment: 1, succeeded: 1, state: "done" });
    await harness.take("parts");
    clock.advance(3 * MINUTE_MS);
    await sweep();
    await harness.drain();
    expect(await get(id)).toMatchObject({ status: "completed", succeeded_rows: 1 });
  });

  it("keeps no ended job among the open ones", async () => {
    await run("external_id\nS-3\n");
    await run("broken\n");
    const { id } = await harness.upload(organization, "external_id\nS-4\n");
    await cancel(id);
    expect(await Array.fromAsync(harness.store.openUploads(clock() + 60 * MINUTE_MS))).toEqual([]);
  });
});

describe("a job ends", () => {
  it("when its file is gone", async () => {
    const { job } = await harness.store.create(
      organization,
      { id: randomUUID(), origin: "request" },
      clock() + MINUTE_MS,
    );
    await split(job.id);
    expect(await get(job.id)).toMatchObject({ status: "failed", error: "the file was deleted before it was read" });
  });

  it("when its file is empty, although nobody could look into it before", async () => {
    expect(await run("")).toMatchObject({ status: "failed", error: "the file is empty", total_rows: 0 });
  });

  it("with true counters when what it reads is deleted under way", async () => {
    const { id } = await harness.upload(organization, manyRows(6000));
    await split(id);
    const job = (await harness.store.readJob(jobKey(id)))!;
    const [first, ...others] = await harness.take("parts");
    await harness.apply(sqsEvent(first), lambdaContext(120_000));
    const { succeeded_rows } = await get(id);
    expect(succeeded_rows).toBeGreaterThan(0);
    await harness.remove(objectKeys.segment(job, 1, 0));
    for (const message of others) await harness.apply(sqsEvent(message), lambdaContext(120_000));
    expect(await get(id)).toMatchObject({
      status: "failed",
      error: "the file was deleted before all rows were applied",
      succeeded_rows,
    });
  });

  it("when the file is replaced between two runs of the splitter", async () => {
    const { id } = await harness.upload(organization, "external_id\nE-1\n");
    await harness.store.claimSplit(jobKey(id), { etag: '"other"', size: 17, parts: 1 });
    clock.advance(LEASE_MS + 1);
    await split(id);
    expect(await get(id)).toMatchObject({ status: "failed", error: "the file was replaced while it was read" });
  });

  it("when a part is claimed again and again and does not move", async () => {
    const { id } = await harness.upload(organization, "external_id\nE-2\n");
    await split(id);
    const job = (await harness.store.readJob(jobKey(id)))!;
    const [message] = await harness.take("parts");
    for (let claim = 1; claim <= 6; claim++) {
      expect((await harness.store.claimPart(job, 0)).state).toBe("claimed");
      clock.advance(LEASE_MS + 1);
    }
    await harness.apply(sqsEvent(message), lambdaContext(120_000));
    expect(await get(id)).toMatchObject({ status: "failed", error: "applying the rows makes no progress" });
  });

  it.each(["split", "part"] as const)("when the message of a %s exhausts its receives", async (kind) => {
    const { id } = await harness.upload(organization, "external_id\nD-1\n");
    if (kind === "part") await split(id);
    const dead = kind === "part" ? (await harness.take("parts"))[0] : s3Event(jobKey(id));
    await createFailDeadUpload(runtime)(sqsEvent(dead), lambdaContext());
    expect(await get(id)).toMatchObject({ status: "failed", error: expect.stringContaining("after repeated tries") });
  });

  it("but not by the dead letter of a duplicate", async () => {
    const { id } = await harness.upload(organization, "external_id\nD-2\n");
    const failDead = createFailDeadUpload(runtime);
    await split(id);
    await failDead(sqsEvent(s3Event(jobKey(id))), lambdaContext());
    const [message] = await harness.take("parts");
    await harness.store.claimPart((await harness.store.readJob(jobKey(id)))!, 0);
    await failDead(sqsEvent(message), lambdaContext());
    expect(await get(id)).toMatchObject({ status: "processing" });
    clock.advance(LEASE_MS + 1);
    await harness.apply(sqsEvent(message), lambdaContext(120_000));
    expect(await get(id)).toMatchObject({ status: "completed" });
    await failDead(sqsEvent(message, "not a message"), lambdaContext());
    expect(await get(id)).toMatchObject({ status: "completed" });
  });
});

describe("a worker close to its time limit", () => {
  it("leaves the rest of the rows to another, which goes on from the checkpoint", async () => {
    const { id } = await harness.upload(organization, manyRows(500));
    await split(id);
    let deliveries = 0;
    for (let [message] = await harness.take("parts"); message; [message] = await harness.take("parts")) {
      deliveries++;
      // 30 s are kept for the last window: this worker is to hand over at once.
      const { batchItemFailures } = await harness.apply(sqsEvent(message), lambdaContext(30_000));
      expect(batchItemFailures).toEqual([]);
      expect(await get(id)).toMatchObject({ succeeded_rows: Math.min(500, 200 * deliveries) });
    }
    expect(deliveries).toBe(3);
    expect(await get(id)).toMatchObject({ status: "completed", succeeded_rows: 500 });
  });

  describe("that has applied the last row, with more failed rows than it can list", () => {
    const FAILED = 1500;
    const failing = `external_id,status\n${Array.from({ length: FAILED }, (_, row) => `F-${row},unheard-of\n`).join("")}`;
    /** Applies all rows, and leaves the message that asks for the report. */
    const applyAll = async (): Promise<{ id: string; message: Record<string, unknown> }> => {
      const { id } = await harness.upload(organization, failing);
      await split(id);
      for (;;) {
        const [message] = await harness.take("parts");
        if (message === undefined) throw new Error("nobody was asked for the report");
        const { failed_rows: failed } = await get(id);
        if (failed === FAILED) return { id, message };
        await harness.apply(sqsEvent(message), lambdaContext(30_000));
      }
    };

    it("leaves the report to another, which has the time", async () => {
      const { id, message } = await applyAll();
      expect(await get(id)).toMatchObject({ status: "processing", failed_rows: FAILED });
      await harness.apply(sqsEvent(message), lambdaContext(120_000));
      const { error, ...job } = await get(id);
      expect({ error, ...job }).toMatchObject({ error: undefined, status: "completed", failed_rows: FAILED });
      const { url } = await failedRows(id);
      expect((await (await fetch(url ?? "")).text()).trimEnd().split("\n")).toHaveLength(1 + FAILED);
    });

    it("says how many the report lists where a whole run is not enough", async () => {
      const { id, message } = await applyAll();
      await harness.apply(sqsEvent(message), lambdaContext(30_000));
      const job = await get(id);
      expect(job).toMatchObject({ status: "completed", total_rows: FAILED, failed_rows: FAILED });
      const { url } = await failedRows(id);
      const listed = (await (await fetch(url ?? "")).text()).trimEnd().split("\n").length - 1;
      expect(listed).toBeLessThan(FAILED);
      expect(job["error"]).toBe(`failed_rows lists the first ${listed} of ${FAILED}`);
    });
  });

  it("leaves the rest of the file to another splitter, and the rows are the same", async () => {
    const { id } = await harness.upload(organization, manyRows(3000));
    await harness.split(sqsEvent(s3Event(jobKey(id))), lambdaContext(30_000));
    let runs = 1;
    for (let [message] = await harness.take("split"); message; [message] = await harness.take("split")) {
      runs++;
      await harness.split(sqsEvent(message), lambdaContext(30_000));
    }
    expect(runs).toBeGreaterThan(2);
    await harness.drain();
    expect(await get(id)).toMatchObject({
      status: "completed",
      total_rows: 3000,
      succeeded_rows: 3000,
      failed_rows: 0,
    });
  });
});

describe("a delivery that finds the part under way", () => {
  it("goes back to the queue and changes nothing", async () => {
    const { id } = await harness.upload(organization, "external_id\nH-1\n");
    await split(id);
    await harness.store.claimPart((await harness.store.readJob(jobKey(id)))!, 0);
    const [message] = await harness.take("parts");
    const event = sqsEvent(message);
    const { batchItemFailures } = await harness.apply(event, lambdaContext(120_000));
    expect(batchItemFailures).toEqual([{ itemIdentifier: event.Records[0]!.messageId }]);
    expect(await get(id)).toMatchObject({ status: "processing", succeeded_rows: 0 });
  });
});
