import { beforeEach, describe, expect, it } from "vitest";
import { create as createRecordConversation } from "../../../../functions/record-conversation-upload.ts";
import { create as createRecordQaScore } from "../../../../functions/record-qa-score.ts";
import { createDueGaps } from "../../../../lib/changes/due-gaps.ts";
import { isoTime } from "../../../../lib/clock.ts";
import { countForErasure, eraseOrganization } from "../../../../apps/operator/data/erase-organization.ts";
import { startErasing } from "../../../../apps/operator/data/erasure-writes.ts";
import { getOrganization } from "../../../../apps/operator/data/administration.ts";
import { createKey, revokeKey } from "../../../../apps/operator/data/key-management.ts";
import { createTestClock, type TestClock } from "../../../support/clock.ts";
import {
  createCustomer,
  type Customer,
  fill,
  operatorOf,
  putObject,
  tracesOf,
} from "../../../support/customer-data.ts";
import { type Fault, failRequests, injectFaults } from "../../../support/faults.ts";
import { lambdaContext } from "../../../support/lambda-context.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../../../support/uploads/upload-harness.ts";

const MINUTE_MS = 60_000;
let clock: TestClock;
let runtime: TestRuntime;
let acme: Customer;
let other: Customer;
beforeEach(async () => {
  clock = createTestClock();
  runtime = await createTestRuntime({ clock });
  acme = await createCustomer(runtime, "acme");
  // Its name begins with that of the other.
  other = await createCustomer(runtime, "acme-2");
  await fill(runtime, acme);
  await fill(runtime, other);
});

const sleep = async (milliseconds: number): Promise<void> => clock.advance(milliseconds);

describe("erasing an organization", () => {
  it("leaves nothing of it, and everything of the others", async () => {
    await putObject(runtime, "uploads/acme/some/source.csv");
    await putObject(runtime, "uploads/acme-2/some/source.csv");
    await createDueGaps(runtime).noteOne("acme");
    const before = await tracesOf(runtime, "acme-2");
    const counted = await countForErasure(operatorOf(runtime), "acme");
    const receipt = await eraseOrganization(operatorOf(runtime), "acme", { sleep });
    expect(await tracesOf(runtime, "acme")).toEqual([]);
    expect(await tracesOf(runtime, "acme-2")).toEqual(before);
    expect(receipt).toMatchObject({
      organization: "acme",
      region: "us",
      began_at: "2026-03-01T12:00:00.000Z",
      erased: { work_items: 3, events: 1, upload_jobs: 1, conversation_uploads: 1, objects: 1, keys: 1 },
    });
    expect(receipt.erased).toEqual(counted.erased);
    expect(Date.parse(receipt.finished_at)).toBe(clock());
    await expect(getOrganization(runtime, "acme")).rejects.toThrow("there is no organization acme");
  });

  it("counts in a dry run, and changes nothing", async () => {
    const before = await tracesOf(runtime, "acme");
    const { erased, scanned, readUnits } = await countForErasure(operatorOf(runtime), "acme");
    expect(erased).toMatchObject({ work_items: 3, events: 1, keys: 1 });
    expect(scanned).toBeGreaterThanOrEqual(
      before.filter((trace) => /^(ITEM|UPLOAD|CONVERSATION)#/.test(trace ?? "")).length,
    );
    expect(readUnits).toBeGreaterThan(0);
    expect(await tracesOf(runtime, "acme")).toEqual(before);
    expect((await acme.send("listWorkItems")).status).toBe(200);
  });

  it.each(["Query", "Scan"])("waits where the table of items throttles %s", async (name) => {
    const throttled = { name: "ThrottlingException", httpStatusCode: 400 };
    let calls = 0;
    const stop = failRequests(runtime.dynamodb, (command, { TableName: table }) => {
      const isMeant = command === `${name}Command` && table === runtime.environment.WORK_ITEMS_TABLE;
      return isMeant && calls++ % 3 < 2 ? throttled : undefined;
    });
    await eraseOrganization(operatorOf(runtime), "acme", { sleep });
    stop();
    expect(calls).toBeGreaterThan(3);
    expect(await tracesOf(runtime, "acme")).toEqual([]);
  });

  it("also erases what calls that still know the key write meanwhile", async () => {
    const statuses: number[] = [];
    await eraseOrganization(operatorOf(runtime), "acme", {
      sleep: async (milliseconds) => {
        statuses.push((await acme.apply({ external_id: "late" })).status);
        await sleep(milliseconds);
        statuses.push((await acme.apply({ external_id: "too late" })).status);
      },
    });
    expect(statuses.slice(0, 2)).toEqual([200, 401]);
    expect(await tracesOf(runtime, "acme")).toEqual([]);
  });

  it("waits for files that may still come by forms, also when it is repeated", async () => {
    const interrupted = new Error("interrupted");
    // Sent at 256 KB/s, it takes five minutes.
    await acme.send("uploadWorkItems", { body: { upload: { filename: "slow.csv", size: 5 * 60 * 256_000 } } });
    const started = clock();
    await expect(
      eraseOrganization(operatorOf(runtime), "acme", { sleep: () => Promise.reject(interrupted) }),
    ).rejects.toThrow(interrupted);
    expect(await tracesOf(runtime, "acme")).toHaveLength(1 + 1 + 2 * 1 + 1); // its record, its place in the list, its key twice, its limit
    clock.advance(10 * MINUTE_MS);

    const untils: number[] = [];
    const { began_at: began, erased } = await eraseOrganization(operatorOf(runtime), "acme", {
      onWait: (until) => untils.push(until - started),
      sleep: async (milliseconds) => {
        if (untils.length === 1) await putObject(runtime, "uploads/acme/form/source.csv");
        await sleep(milliseconds);
      },
    });
    // Then workers may still know what was found.
    expect(untils).toEqual([20 * MINUTE_MS, 36 * MINUTE_MS]);
    expect(Date.parse(began)).toBe(started);
    expect(erased).toMatchObject({ work_items: 3, events: 1, upload_jobs: 2, objects: 1 });
    expect(await tracesOf(runtime, "acme")).toEqual([]);
  });

  it("looks again when workers have ended that had read what it found", async () => {
    let waits = 0;
    await eraseOrganization(operatorOf(runtime), "acme", {
      sleep: async (milliseconds) => {
        waits += 1;
        await sleep(milliseconds - 1);
        if (waits <= 2) await putObject(runtime, `uploads/acme/late/${waits}.csv`);
        await sleep(1);
      },
    });
    expect(await tracesOf(runtime, "acme")).toEqual([]);
    expect(waits).toBe(3);
  });

  it("can be repeated after DynamoDB has failed at any place", async () => {
    for (let place = 1; place <= 40; place++) {
      let requests = 0;
      const remove = injectFaults(runtime.dynamodb, () => (++requests === place ? "unreachable" : "none"));
      // The SDK repeats a request that is unreachable twice.
      await eraseOrganization(operatorOf(runtime), "acme", { sleep }).catch((error: unknown) => error);
      remove();
    }
    await eraseOrganization(operatorOf(runtime), "acme", { sleep }).catch((error: unknown) => error);
    expect(await tracesOf(runtime, "acme")).toEqual([]);
    expect((await other.send("listWorkItems")).body.data).toHaveLength(2);
  });

  it("doesn't let workers apply files or operators create keys", async () => {
    const harness = createUploadHarness(runtime);
    await harness.upload(acme.organization, "external_id\nfrom a file\n");
    let refusal: unknown;
    let isLate = false;
    await eraseOrganization(operatorOf(runtime), "acme", {
      sleep: async (milliseconds) => {
        refusal ??= await createKey(operatorOf(runtime), "acme").catch((error: Error) => error.message);
        if (!isLate) await harness.upload(acme.organization, "external_id\nfrom a file\n");
        isLate = true;
        await harness.drain();
        await sleep(milliseconds);
      },
    });
    expect(refusal).toBe("the data of acme is being erased: its erasure started at 2026-03-01T12:00:00.000Z");
    expect(await tracesOf(runtime, "acme")).toEqual([]);
  });

  it("lets workers apply nothing more of jobs that have begun", async () => {
    const harness = createUploadHarness(runtime);
    const rows = Array.from({ length: 2500 }, (_, row) => `begun-${row}\n`).join("");
    const begun = await harness.upload(acme.organization, `external_id\n${rows}`);
    const unread = await harness.upload(acme.organization, "external_id\nunread\n");
    await harness.split(sqsEvent(splitMessage(begun)), lambdaContext(120_000));
    const [message] = await harness.take("chunks");
    // Its time suffices for one window.
    await harness.apply(sqsEvent(message), lambdaContext(30_000, clock));
    expect((await harness.store.read(begun))?.shards).toMatchObject([{ succeeded: 1000 }]);

    // Both jobs are still there.
    await startErasing(operatorOf(runtime), await getOrganization(runtime, "acme"), isoTime(clock()));
    const messages = [...(await harness.take("chunks")), message];
    expect(messages.length).toBeGreaterThan(1);
    const commands: string[] = [];
    const record = (command: string) => {
      commands.push(command);
      return undefined;
    };
    const stops = [failRequests(runtime.dynamodb, record), failRequests(runtime.s3, record)];
    for (const again of messages) await harness.apply(sqsEvent(again), lambdaContext(120_000));
    expect(commands.length).toBeGreaterThan(0);
    expect(commands.filter((command) => !/^(Get|Query)/.test(command))).toEqual([]);
    await harness.split(sqsEvent(splitMessage(unread)), lambdaContext(120_000));
    // It has claimed the file, and put nothing into the bucket.
    expect(commands).not.toContain("PutObjectCommand");
    for (const stop of stops) stop();
    expect(await harness.take("chunks")).toEqual([]);
    expect((await harness.store.read(begun))?.shards).toMatchObject([{ claim: 1, succeeded: 1000 }]);

    await eraseOrganization(operatorOf(runtime), "acme", { sleep });
    expect(await tracesOf(runtime, "acme")).toEqual([]);
  });

  it("waits for the workers of files, which run for 15 minutes", async () => {
    const { store, upload } = createUploadHarness(runtime);
    const job = await upload(acme.organization, "external_id\nread\n");
    const source = { etag: '"read"', size: 17, writtenAt: new Date(clock()) };
    await store.claim((await store.readJob(job))!, { source });
    const started = clock();
    const untils: number[] = [];
    await eraseOrganization(operatorOf(runtime), "acme", {
      onWait: (until) => untils.push(until - started),
      sleep: async (milliseconds) => {
        await sleep(milliseconds - 1);
        if (untils.length === 1) await putObject(runtime, `uploads/acme/${job.id}/chunks/1/0-0`);
        await sleep(1);
      },
    });
    expect(untils).toEqual([17 * MINUTE_MS, 33 * MINUTE_MS]);
    expect(await tracesOf(runtime, "acme")).toEqual([]);
  });

  it("lets no other system record anything", async () => {
    const refusals: unknown[] = [];
    const record = { organization: "acme", external_id: "kept" };
    await eraseOrganization(operatorOf(runtime), "acme", {
      sleep: async (milliseconds) => {
        const calls = [
          createRecordQaScore(runtime)({ ...record, qa_score: 1 }),
          createRecordConversation(runtime)({ ...record, source: "phone", status: "pending" }),
        ];
        refusals.push(...(await Promise.all(calls.map((call) => call.catch((error: Error) => error.message)))));
        await sleep(milliseconds);
      },
    });
    expect(refusals).toEqual(Array(4).fill("organization acme not found"));
    expect(await tracesOf(runtime, "acme")).toEqual([]);
  });

  it("waits for the form of a job that has ended: it can still be posted", async () => {
    const { body } = await acme.send("listWorkItemUploads");
    const [{ id } = { id: "" }] = body.data;
    await acme.send("cancelWorkItemUpload", { params: { id } });
    const posted = clock() + 14 * MINUTE_MS;
    let isPosted = false;
    await eraseOrganization(operatorOf(runtime), "acme", {
      sleep: async (milliseconds) => {
        if (!isPosted && clock() + milliseconds > posted) {
          isPosted = true;
          await putObject(runtime, `uploads/acme/${id}/source.csv`);
        }
        await sleep(milliseconds);
      },
    });
    expect(isPosted).toBe(true);
    expect(await tracesOf(runtime, "acme")).toEqual([]);
  });

  it("ends well if the response to its last write is lost", async () => {
    const isLast = (command: string, input: object): boolean =>
      command === "DeleteItemCommand" && JSON.stringify(input).includes("erasing_since");
    let lost = 0;
    const remove = injectFaults(runtime.dynamodb, (command, input): Fault =>
      isLast(command, input) && lost++ === 0 ? "lost response" : "none",
    );
    expect(await eraseOrganization(operatorOf(runtime), "acme", { sleep })).toMatchObject({ organization: "acme" });
    remove();
    expect(lost).toBe(2);
    expect(await tracesOf(runtime, "acme")).toEqual([]);
  });

  it("doesn't create a key once it has started, and doesn't leave one that was being created", async () => {
    const operator = operatorOf(runtime);
    const resume = Promise.withResolvers<void>();
    const made = Promise.withResolvers<void>();
    let isHeld = false;
    const remove = injectFaults(runtime.dynamodb, async (command, input): Promise<Fault> => {
      const isKey = command === "TransactWriteItemsCommand" && JSON.stringify(input).includes("KEY#");
      if (!isKey || isHeld) return "none";
      isHeld = true;
      made.resolve();
      await resume.promise;
      return "none";
    });
    const late = createKey(operator, "acme").catch((error: Error) => error.message);
    await made.promise;
    await eraseOrganization(operator, "acme", { sleep });
    resume.resolve();
    expect(await late).toBe("there is no organization acme");
    remove();
    expect(await tracesOf(runtime, "acme", acme.keyId)).toEqual([]);
  });

  it("takes keys that were revoked before, too", async () => {
    await revokeKey(operatorOf(runtime), "acme", acme.keyId);
    const { erased } = await eraseOrganization(operatorOf(runtime), "acme", { sleep });
    expect(erased.keys).toBe(1);
    expect(await tracesOf(runtime, "acme")).toEqual([]);
  });
});
