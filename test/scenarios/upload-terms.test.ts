import { randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { mapConcurrently } from "../../lib/retry.ts";
import { CLAIM_MS } from "../../lib/uploads/job/claim.ts";
import { failRequests, refuseMessages } from "../support/faults.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { createTestOrganization } from "../support/organization.ts";
import { s3Event, splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import {
  createUploadService,
  dataOf,
  manyRows,
  MINUTE_MS,
  type UploadService,
} from "../support/uploads/upload-service.ts";
import { createCaller } from "../support/service.ts";

let uploads: UploadService;
beforeEach(async () => {
  uploads = await createUploadService();
});

/** Requests so many forms for an organization. */
const createForms = async (count: number, organization = uploads.organization): Promise<void> => {
  const form = () => ({ id: randomUUID(), origin: "form", expected_size: 1 }) as const;
  const { store } = uploads.harness;
  const numbers = Array.from({ length: count }, (_, number) => number);
  await mapConcurrently(numbers, 50, () => store.create(organization, form(), uploads.clock()));
};

const throttled = { name: "ThrottlingException", httpStatusCode: 400 };

describe("a job continues", () => {
  it("at once where SQS refuses single messages of a request", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, manyRows(900));
    let left = 2;
    refuseMessages(uploads.runtime.sqs, (_, index) => index === 0 && left-- > 0);
    await uploads.split(id);
    await uploads.harness.drain();
    expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 900 });
  });

  it("through an hour in which the table is throttled most of the time", async () => {
    const id = await uploads.begin(manyRows(900));
    let calls = 0;
    const stop = failRequests(uploads.runtime.dynamodb, () => {
      // Each throttled request takes the client seconds.
      uploads.clock.advance(2000);
      return calls++ % 4 === 0 ? undefined : throttled;
    });
    const end = uploads.clock() + 60 * MINUTE_MS;
    while (uploads.clock() < end) {
      for (const queue of ["split", "chunks"] as const) await uploads.harness.deliver(queue);
      await uploads.sweep().catch(() => undefined);
      uploads.clock.advance(30_000);
    }
    stop();
    expect((await uploads.harness.store.readJob(uploads.jobKey(id)))?.stopping).toBeUndefined();
    for (let minute = 0; minute < 5; minute++) {
      await uploads.later(3 * MINUTE_MS);
    }
    expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 900, created_rows: 900 });
  });

  it.each([
    ["AccessDeniedException", 400],
    ["ResourceNotFoundException", 400],
    ["ExpiredTokenException", 400],
  ])("once %s is over, and none of its rows has failed", async (name, httpStatusCode) => {
    const id = await uploads.begin("external_id\nA\nB\nC\n");
    const stop = failRequests(uploads.runtime.dynamodb, (command) => {
      if (!/^(BatchExecuteStatement|PutItem|Put)Command$/.test(command)) return undefined;
      uploads.clock.advance(1000);
      return { name, httpStatusCode };
    });
    for (let run = 0; run < 4; run++) {
      const [message] = await uploads.harness.take("chunks");
      if (message) await uploads.harness.apply(sqsEvent(message), lambdaContext(60_000));
      uploads.clock.advance(2 * MINUTE_MS);
      await uploads.sweep();
    }
    stop();
    await uploads.later(3 * MINUTE_MS);
    expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 3, failed_rows: 0 });
  });

  it("where single writes of its record conflict with a transaction", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nA\n");
    let conflicts = 2;
    const stop = failRequests(uploads.runtime.dynamodb, (command) =>
      command.startsWith("Update") && conflicts-- > 0
        ? { name: "TransactionConflictException", httpStatusCode: 400 }
        : undefined,
    );
    for (const _ of [1, 2, 3]) expect((await uploads.split(id)).batchItemFailures).toEqual([]);
    stop();
    expect(await uploads.get(id)).toMatchObject({ status: "processing", total_rows: 1 });
    await uploads.harness.drain();
    expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 1 });
  });

  it("where S3 denies access for a while: that isn't a deleted file", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nA\n");
    const stop = failRequests(uploads.runtime.s3, () => ({ name: "AccessDenied", httpStatusCode: 403 }));
    await uploads.split(id);
    stop();
    expect(await uploads.get(id)).toMatchObject({ status: "pending" });
    await uploads.harness.drain();
    await uploads.later(3 * MINUTE_MS);
    expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 1 });
  });
});

describe("messages of S3", () => {
  it("are sent on in the group of their organization before anything is split", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nA\n");
    await uploads.harness.split(sqsEvent(s3Event(uploads.jobKey(id))), lambdaContext(120_000));
    expect(await uploads.get(id)).toMatchObject({ status: "pending" });
    expect(await uploads.harness.take("split")).toEqual([splitMessage(uploads.jobKey(id))]);
  });
});

describe("the sweep", () => {
  it("finds another organization's lost message in the same minute, however many jobs one has open", async () => {
    const neighbour = await createTestOrganization(uploads.runtime);
    await createForms(300, neighbour.organization);
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nA\n");
    uploads.clock.advance(3 * MINUTE_MS);
    // Time for a few jobs: each look at one takes the sweep some milliseconds.
    const stop = failRequests(uploads.runtime.s3, () => {
      uploads.clock.advance(1000);
      return undefined;
    });
    await uploads.sweep();
    stop();
    expect(await uploads.harness.take("split")).toContainEqual(splitMessage(uploads.jobKey(id)));
  });

  it("sends a lost message again within two minutes, even if the message that it sent is lost", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nA\n");
    uploads.clock.advance(3 * MINUTE_MS);
    for (let round = 0; round < 3; round++) {
      await uploads.sweep();
      expect(await uploads.harness.take("split")).toEqual([splitMessage(uploads.jobKey(id))]);
      uploads.clock.advance(2 * MINUTE_MS);
    }
  });
});

describe("an organization", () => {
  it("may pass the limit by what the index doesn't show yet, and no request below it is refused", async () => {
    await createForms(95);
    const responses = await Promise.all(Array.from({ length: 10 }, () => uploads.requestForm(10)));
    const accepted = responses.filter(({ status }) => status === 202).length;
    expect(accepted).toBeGreaterThanOrEqual(5);
    expect((await uploads.requestForm(10)).status).toBe(429);
    const open = await uploads.harness.store.openJobsOf(uploads.organization.id);
    expect(open).toHaveLength(95 + accepted);
    await Promise.all(open.slice(99).map(({ id }) => uploads.cancel(id)));
    expect((await uploads.requestForm(10)).status).toBe(202);
    expect((await uploads.requestForm(10)).status).toBe(429);
  });

  it("whose name begins with another's doesn't count the other's uploads", async () => {
    const { store } = uploads.harness;
    const { id: name } = uploads.organization;
    // In the same of the index's eight partitions.
    const number = Array.from({ length: 1000 }, (_, each) => each).find(
      (each) => crc32(`${name}-${each}`) % 8 === crc32(name) % 8,
    );
    const { organization } = await createTestOrganization(uploads.runtime, { id: `${name}-${number}` });
    await createForms(100, organization);
    expect((await uploads.requestForm(10)).status).toBe(202);
    await expect(store.assertRoom(organization)).rejects.toThrow("at most 100 uploads may be unfinished");
  });

  it("has at most a hundred unfinished uploads, and repeated requests are still answered", async () => {
    const upload = (headers: Record<string, string> = {}) => uploads.requestForm(10, headers);
    const first = await upload({ "Idempotency-Key": "first" });
    await createForms(98);
    expect((await upload()).status).toBe(202);
    const refused = await upload();
    expect(refused).toMatchObject({ status: 429, headers: { "retry-after": "30" } });
    expect(refused.body.error).toContain("at most 100 uploads may be unfinished");
    expect(dataOf(await upload({ "Idempotency-Key": "first" })).id).toBe(dataOf(first).id);

    await uploads.cancel(dataOf(first).id);
    expect((await upload()).status).toBe(202);
    const neighbour = await createTestOrganization(uploads.runtime);
    const send = createCaller(uploads.runtime, neighbour.key);
    const response = await send("uploadWorkItems", { body: { upload: { filename: "a.csv", size: 1 } } });
    expect(response.status).toBe(202);
  });
});

describe("a worker that sleeps longer than its claim", () => {
  it("claims no chunk that was counted after it had read the shard", async () => {
    const { store } = uploads.harness;
    const id = await uploads.begin("external_id\nA\nB\n");
    const { job, shards } = (await store.read(uploads.jobKey(id)))!;
    const seen = (await store.shards.claim(job, shards[0]!))!;
    const counted = { ...seen, next: 1, after: 3, counted: "1", succeeded: 2, created: 2 };
    expect(await store.shards.save(job, seen, counted)).toMatchObject({ next: 1, claim: seen.claim });
    expect(await store.shards.claim(job, seen)).toBeUndefined();
  });

  it("saves nothing after a cancel has frozen the counters", async () => {
    const { store } = uploads.harness;
    const id = await uploads.begin("external_id\nA\nB\n");
    const { job, shards } = (await store.read(uploads.jobKey(id)))!;
    const claimed = (await store.shards.claim(job, shards[0]!))!;
    await uploads.harness.take("chunks");
    uploads.clock.advance(CLAIM_MS + 1);
    const cancelling = uploads.cancel(id);
    while ((await uploads.harness.deliver("chunks")) === 0);
    await uploads.harness.drain();
    await cancelling;
    expect(await uploads.get(id)).toMatchObject({ status: "cancelled", succeeded_rows: 0 });
    const progress = { ...claimed, next: 1, after: 0, counted: "1", succeeded: 2, created: 2 };
    expect(await store.shards.save(job, claimed, progress)).toBeUndefined();
    expect(await store.shards.saveAndGoOn(job, claimed, progress)).toBeUndefined();
    expect(await store.shards.renew(job, claimed)).toBeUndefined();
    expect((await store.read(job))?.shards.map(({ succeeded }) => succeeded)).toEqual([0]);
  });
});

describe("a file", () => {
  it("whose unknown columns would not fit a record fails with the first of them named", async () => {
    const columns = Array.from({ length: 3000 }, (_, index) => `column ${index}`).join(",");
    const { status, error } = await uploads.run(`external_id,${columns}\nA\n`);
    expect(status).toBe("failed");
    expect(error).toContain('"column 0"');
    expect(error?.length).toBeLessThan(10_000);
  });

  it("with a byte order mark before a quoted header gives a report that can be sent again", async () => {
    const { id } = await uploads.run('\uFEFF"custom_attributes.City, State",external_id,type\r\n"Austin, TX",,x\r\n');
    const response = await fetch((await uploads.failedRows(id)).url!);
    // As text, it would lack the mark.
    const report = Buffer.from(await response.arrayBuffer()).toString();
    expect(report).toBe(
      '\uFEFF"custom_attributes.City, State",external_id,type,_row,_error,_error_column,_error_value,_error_code\r\n' +
        '"Austin, TX",,x,2,external_id: must not be empty,external_id,,too_small\r\n',
    );
    const again = await uploads.run(report.replace('"Austin, TX",,', '"Austin, TX",B-1,'));
    expect(again).toMatchObject({ status: "completed", succeeded_rows: 1, failed_rows: 0 });
  });
});
