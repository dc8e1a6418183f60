import { randomUUID } from "node:crypto";
import type { Context } from "aws-lambda";
import { beforeEach, describe, expect, it } from "vitest";
import { create as createFailDeadUpload } from "../../functions/fail-dead-upload.ts";
import { findStaleParts } from "../../lib/uploads/workers/sweep-uploads.ts";
import { objectKeys } from "../../lib/uploads/files/upload-objects.ts";
import { LEASE_MS } from "../../lib/uploads/job/upload-record.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { createTestOrganization } from "../support/organization.ts";
import { splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import { createUploadService, manyRows, MINUTE_MS, type UploadService } from "../support/uploads/upload-service.ts";

let uploads: UploadService;
/** Workers reserve 30 s for the last window. The remaining time stands still, as the clock does. */
const closeToTheLimit: Context = { ...lambdaContext(), getRemainingTimeInMillis: () => 30_000 };

beforeEach(async () => {
  uploads = await createUploadService();
});

describe("the sweep", () => {
  it("sends a message for a file whose event was lost", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nS-1\n");
    uploads.clock.advance(3 * MINUTE_MS);
    await uploads.sweep();
    await uploads.harness.drain();
    expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 1 });
  });

  it("fails a job whose file did not arrive with its request", async () => {
    const { job } = await uploads.harness.store.openUploads.create(
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

  it("sends messages for at most eight parts whose message was lost, but not for running parts", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, manyRows(90_000));
    await uploads.split(id);
    const messages = await uploads.harness.take("parts");
    expect(new Set(messages.map(({ part }) => part))).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7]));
    const job = (await uploads.harness.store.readJob(uploads.jobKey(id)))!;
    expect(job.part_count).toBe(16);
    await uploads.harness.store.claimPart(job, 2);

    uploads.clock.advance(2 * MINUTE_MS + 1);
    await uploads.harness.store.claimPart(job, 1);
    await uploads.sweep();
    expect(new Set((await uploads.harness.take("parts")).map(({ part }) => part))).toEqual(
      new Set([0, 2, 3, 4, 5, 6, 7]),
    );
    await uploads.sweep();
    expect(await uploads.harness.take("parts")).toEqual([]);
  });

  it("sends a message for a part as soon as the lease of its dead worker has expired", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, manyRows(15_000));
    await uploads.split(id);
    const job = (await uploads.harness.store.readJob(uploads.jobKey(id)))!;
    await uploads.harness.store.claimPart(job, 0);
    const snapshot = (await uploads.harness.store.read(uploads.jobKey(id)))!;
    expect(findStaleParts(snapshot, uploads.clock() + LEASE_MS)).toEqual([]);
    expect(findStaleParts(snapshot, uploads.clock() + LEASE_MS + 1).map(({ number }) => number)).toEqual([0]);
  });

  it("finishes a job whose last worker was lost before it could", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nS-2\n");
    await uploads.split(id);
    const job = (await uploads.harness.store.readJob(uploads.jobKey(id)))!;
    const claim = await uploads.harness.store.claimPart(job, 0);
    if (claim.state !== "claimed") throw new Error("the part is not ours");
    await uploads.harness.store.savePart(job, claim.record, { segment: 1, succeeded: 1, state: "done" });
    await uploads.harness.take("parts");
    uploads.clock.advance(3 * MINUTE_MS);
    await uploads.sweep();
    await uploads.harness.drain();
    expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 1 });
  });

  it("keeps no ended job among the open ones", async () => {
    await uploads.run("external_id\nS-3\n");
    await uploads.run("broken\n");
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nS-4\n");
    await uploads.cancel(id);
    expect(await uploads.harness.store.openUploads.due(uploads.clock() + 60 * MINUTE_MS)).toEqual([]);
  });
});

describe("a job ends", () => {
  it("when its file is gone", async () => {
    const { job } = await uploads.harness.store.openUploads.create(
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

  it("with correct counters when a segment is deleted before it is applied", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, manyRows(6000));
    await uploads.split(id);
    const job = (await uploads.harness.store.readJob(uploads.jobKey(id)))!;
    const [first, ...others] = await uploads.harness.take("parts");
    await uploads.harness.apply(sqsEvent(first), lambdaContext(120_000));
    const { succeeded_rows } = await uploads.get(id);
    expect(succeeded_rows).toBeGreaterThan(0);
    await uploads.harness.remove(objectKeys.segment(job, 1, 0));
    for (const message of others) await uploads.harness.apply(sqsEvent(message), lambdaContext(120_000));
    expect(await uploads.get(id)).toMatchObject({
      status: "failed",
      error: "the file was deleted before all rows were applied",
      succeeded_rows,
    });
  });

  it("with correct counters when failed rows are deleted before they are listed", async () => {
    const rows = Array.from({ length: 1300 }, (_, row) => `F-${row},unheard-of\n`).join("");
    const { id } = await uploads.harness.upload(uploads.organization, `external_id,status\n${rows}`);
    await uploads.split(id);
    const [message] = await uploads.harness.take("parts");
    // This one hands over after the first 1,000 rows.
    await uploads.harness.apply(sqsEvent(message), closeToTheLimit);
    await uploads.harness.remove(objectKeys.failedRows(uploads.jobKey(id), 0, 1, 0));
    await uploads.harness.drain();
    expect(await uploads.get(id)).toMatchObject({
      status: "completed",
      failed_rows: 1300,
      error: "failed_rows lists 300 of 1300: the others were deleted before they could be listed",
    });
  });

  it("when the file is replaced between two runs of the splitter", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nE-1\n");
    await uploads.harness.store.claimSplit(uploads.jobKey(id), { etag: '"other"', size: 17, parts: 1 });
    uploads.clock.advance(LEASE_MS + 1);
    await uploads.split(id);
    expect(await uploads.get(id)).toMatchObject({ status: "failed", error: "the file was replaced while it was read" });
  });

  it("when a part is claimed again and again and does not move", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nE-2\n");
    await uploads.split(id);
    const job = (await uploads.harness.store.readJob(uploads.jobKey(id)))!;
    const [message] = await uploads.harness.take("parts");
    for (let claim = 1; claim <= 6; claim++) {
      expect((await uploads.harness.store.claimPart(job, 0)).state).toBe("claimed");
      uploads.clock.advance(LEASE_MS + 1);
    }
    await uploads.harness.apply(sqsEvent(message), lambdaContext(120_000));
    expect(await uploads.get(id)).toMatchObject({ status: "failed", error: "applying row 2 makes no progress" });
  });

  it.each(["split", "part"] as const)("when the message of a %s exhausts its receives", async (kind) => {
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nD-1\n");
    if (kind === "part") await uploads.split(id);
    const dead = kind === "part" ? (await uploads.harness.take("parts"))[0] : splitMessage(uploads.jobKey(id));
    await createFailDeadUpload(uploads.runtime)(sqsEvent(dead), lambdaContext());
    expect(await uploads.get(id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("after repeated tries"),
    });
  });

  it("when that is the message of a split, of an organization whose name is that of another message's field", async () => {
    const { organization } = await createTestOrganization(uploads.runtime, { id: "part" });
    const job = await uploads.harness.upload(organization, "external_id\nD-3\n");
    await createFailDeadUpload(uploads.runtime)(sqsEvent(splitMessage(job)), lambdaContext());
    expect(await uploads.harness.store.readJob(job)).toMatchObject({ status: "failed" });
  });

  it("but not by the dead letter of a duplicate", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nD-2\n");
    const failDead = createFailDeadUpload(uploads.runtime);
    await uploads.split(id);
    await failDead(sqsEvent(splitMessage(uploads.jobKey(id))), lambdaContext());
    const [message] = await uploads.harness.take("parts");
    await uploads.harness.store.claimPart((await uploads.harness.store.readJob(uploads.jobKey(id)))!, 0);
    await failDead(sqsEvent(message), lambdaContext());
    expect(await uploads.get(id)).toMatchObject({ status: "processing" });
    uploads.clock.advance(LEASE_MS + 1);
    await uploads.harness.apply(sqsEvent(message), lambdaContext(120_000));
    expect(await uploads.get(id)).toMatchObject({ status: "completed" });
    await failDead(sqsEvent(message, "not a message"), lambdaContext());
    expect(await uploads.get(id)).toMatchObject({ status: "completed" });
  });
});

describe("a worker close to its time limit", () => {
  it("leaves the rest of the rows to another, which continues from the checkpoint", async () => {
    // Short rows: the file has one part, and its list of results one chunk.
    const rows = Array.from({ length: 2500 }, (_, row) => `S-${row}\n`).join("");
    const { id } = await uploads.harness.upload(uploads.organization, `external_id\n${rows}`);
    await uploads.split(id);
    let deliveries = 0;
    for (
      let [message] = await uploads.harness.take("parts");
      message;
      [message] = await uploads.harness.take("parts")
    ) {
      deliveries++;
      // This one hands over after its first window.
      const { batchItemFailures } = await uploads.harness.apply(sqsEvent(message), closeToTheLimit);
      expect(batchItemFailures).toEqual([]);
      expect(await uploads.get(id)).toMatchObject({ succeeded_rows: Math.min(2500, 1000 * deliveries) });
    }
    expect(deliveries).toBe(4);
    expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 2500 });
  });

  describe("that has applied the last row, with more failed rows than it can list", () => {
    const FAILED = 1500;
    const failing = `external_id,status\n${Array.from({ length: FAILED }, (_, row) => `F-${row},unheard-of\n`).join("")}`;
    /** Applies all rows. @returns the message that requests the report */
    const applyAll = async (): Promise<{ id: string; message: Record<string, unknown> }> => {
      const { id } = await uploads.harness.upload(uploads.organization, failing);
      await uploads.split(id);
      for (;;) {
        const [message] = await uploads.harness.take("parts");
        if (message === undefined) throw new Error("no message requests the report");
        const { failed_rows: failed } = await uploads.get(id);
        if (failed === FAILED) return { id, message };
        await uploads.harness.apply(sqsEvent(message), closeToTheLimit);
      }
    };

    it("leaves the report to another, which has the time", async () => {
      const { id, message } = await applyAll();
      expect(await uploads.get(id)).toMatchObject({ status: "processing", failed_rows: FAILED });
      await uploads.harness.apply(sqsEvent(message), lambdaContext(120_000));
      const { error, ...job } = await uploads.get(id);
      expect({ error, ...job }).toMatchObject({ error: undefined, status: "completed", failed_rows: FAILED });
      const { url } = await uploads.failedRows(id);
      expect((await (await fetch(url ?? "")).text()).trimEnd().split("\n")).toHaveLength(1 + FAILED);
    });

    it("says how many the report lists where a whole run is not enough", async () => {
      const { id, message } = await applyAll();
      await uploads.harness.apply(sqsEvent(message), closeToTheLimit);
      const job = await uploads.get(id);
      expect(job).toMatchObject({ status: "completed", total_rows: FAILED, failed_rows: FAILED });
      const { url } = await uploads.failedRows(id);
      const listed = (await (await fetch(url ?? "")).text()).trimEnd().split("\n").length - 1;
      expect(listed).toBeLessThan(FAILED);
      expect(job["error"]).toBe(`failed_rows lists the first ${listed} of ${FAILED}`);
    });
  });

  it("leaves the rest of the file to another splitter, and the rows are the same", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, manyRows(3000));
    await uploads.harness.split(sqsEvent(splitMessage(uploads.jobKey(id))), closeToTheLimit);
    let runs = 1;
    for (
      let [message] = await uploads.harness.take("split");
      message;
      [message] = await uploads.harness.take("split")
    ) {
      runs++;
      await uploads.harness.split(sqsEvent(message), closeToTheLimit);
    }
    expect(runs).toBeGreaterThan(2);
    await uploads.harness.drain();
    expect(await uploads.get(id)).toMatchObject({
      status: "completed",
      total_rows: 3000,
      succeeded_rows: 3000,
      failed_rows: 0,
    });
  });
});

describe("a delivery that finds the part under way", () => {
  it("goes back to the queue and changes nothing", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nH-1\n");
    await uploads.split(id);
    await uploads.harness.store.claimPart((await uploads.harness.store.readJob(uploads.jobKey(id)))!, 0);
    const [message] = await uploads.harness.take("parts");
    const event = sqsEvent(message);
    const { batchItemFailures } = await uploads.harness.apply(event, lambdaContext(120_000));
    expect(batchItemFailures).toEqual([{ itemIdentifier: event.Records[0]!.messageId }]);
    expect(await uploads.get(id)).toMatchObject({ status: "processing", succeeded_rows: 0 });
  });
});
