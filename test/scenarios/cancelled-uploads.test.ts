import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { lambdaContext } from "../support/lambda-context.ts";
import { sqsEvent } from "../support/uploads/upload-harness.ts";
import { createUploadService, manyRows, MINUTE_MS, type UploadService } from "../support/uploads/upload-service.ts";

let uploads: UploadService;
beforeEach(async () => {
  uploads = await createUploadService();
});

/**
 * Lets one part save a checkpoint, and the others only once the job's parts are told to stop: however fast they are,
 * they cannot end before.
 * @returns resolves when the first checkpoint was saved
 */
const holdCheckpoints = (): Promise<void> => {
  const saved = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  let checkpoints = 0;
  uploads.runtime.dynamodb.middlewareStack.add(
    (next) => async (request) => {
      const { UpdateExpression: update = "" } = request.input as { readonly UpdateExpression?: string };
      const isCheckpoint = update.includes("#failures");
      if (isCheckpoint && ++checkpoints > 1) await stopped.promise;
      const response = await next(request);
      if (isCheckpoint) saved.resolve();
      if (update.includes("#stop ")) stopped.resolve();
      return response;
    },
    { step: "initialize", name: "holdCheckpoints" },
  );
  return saved.promise;
};

describe("cancelling", () => {
  it("ends a pending job, responds with 200 when repeated, and applies nothing afterwards", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nC-1\n");
    for (const attempt of [1, 2]) {
      const { status, body } = await uploads.cancel(id);
      expect({ attempt, status, job: body.data.status }).toEqual({ attempt, status: 200, job: "cancelled" });
    }
    await uploads.split(id);
    await uploads.harness.drain();
    expect(await uploads.get(id)).toMatchObject({ status: "cancelled", total_rows: 0, succeeded_rows: 0 });
  });

  it("stops each part at its next checkpoint, counts what was applied, and goes no further", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, manyRows(12_000));
    await uploads.split(id);
    const firstCheckpoint = holdCheckpoints();
    const delivering = uploads.harness.deliverParts();
    await firstCheckpoint;
    const { status, body } = await uploads.cancel(id);
    expect({ status, job: body.data }).toMatchObject({
      status: 200,
      job: { status: "cancelled", total_rows: 12_000 },
    });
    await delivering;
    await uploads.harness.drain();
    const job = await uploads.get(id);
    expect(job).toEqual(body.data);
    expect(job["succeeded_rows"]).toBeLessThan(12_000);
    let made = 0;
    for (let row = 0; row < 12_000; row += 100) {
      const work_items = Array.from({ length: 100 }, (_, index) => ({
        external_id: `L-${row + index}`,
        custom_attributes: { text: "x".repeat(100) },
      }));
      const dryRun = await uploads.call("applyWorkItemBatch", { body: { work_items, dry_run: true } });
      made += dryRun.body.data.summary.unchanged;
    }
    expect(made).toBe(job["succeeded_rows"]);
  });

  /** A job of 12,000 rows, of which one part is applied; the messages of the others are lost. */
  const halfDone = async () => {
    const { id } = await uploads.harness.upload(uploads.organization, manyRows(12_000));
    await uploads.split(id);
    const [message] = await uploads.harness.take("parts");
    await uploads.harness.apply(sqsEvent(message), lambdaContext(120_000));
    const { status, succeeded_rows: applied } = await uploads.get(id);
    expect({ status, isHalfDone: 0 < applied && applied < 12_000 }).toEqual({
      status: "processing",
      isHalfDone: true,
    });
    return { id, applied };
  };

  it("lets a worker list the rows that were applied, and waits for it", async () => {
    const { id, applied } = await halfDone();
    const cancelling = uploads.cancel(id);
    while ((await uploads.harness.deliverParts()) === 0) await sleep(10);
    const { status, body } = await cancelling;
    const job = { status: "cancelled", succeeded_rows: applied, total_rows: 12_000 };
    expect({ status, job: body.data }).toMatchObject({ status: 200, job });
    const list = await (await fetch((await uploads.results(id)).url!)).text();
    expect(list.trimEnd().split("\n")).toHaveLength(1 + applied);
  });

  it("responds after five seconds if no worker has time, and the job ends nevertheless", async () => {
    const { id, applied } = await halfDone();
    const ticking = setInterval(() => uploads.clock.advance(1000), 50);
    const { status, body, headers } = await uploads.cancel(id);
    clearInterval(ticking);
    expect({ status, job: body.data }).toMatchObject({ status: 200, job: { status: "processing" } });
    expect(headers["retry-after"]).toBeDefined();
    expect(await uploads.harness.take("parts")).toHaveLength(1);
    uploads.clock.advance(2 * MINUTE_MS);
    await uploads.sweep();
    expect(await uploads.get(id)).toMatchObject({ status: "cancelled", succeeded_rows: applied });
  });

  it("responds with 409 if the job has completed or failed", async () => {
    const completed = await uploads.run("external_id\nC-2\n");
    expect((await uploads.cancel(completed.id)).status).toBe(409);
    const failed = await uploads.run("nothing\n");
    expect(failed).toMatchObject({ status: "failed", error: expect.stringContaining('unknown column "nothing"') });
    expect((await uploads.cancel(failed.id)).status).toBe(409);
  });
});
