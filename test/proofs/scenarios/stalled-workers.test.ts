import { expect, it } from "vitest";
import { aroundRequests, failRequests } from "../../support/faults.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { sqsEvent } from "../../support/uploads/upload-harness.ts";
import { createUploadService, dataOf, MINUTE_MS } from "../../support/uploads/upload-service.ts";

const TEN_MINUTES_MS = 10 * MINUTE_MS;
const RUN_MS = 120_000;

/**
 * An uploaded file whose workers die at the first of some requests: they carry out nothing after it. All other requests
 * are answered, and a sweep runs each minute.
 */
const createDying = async (isFatal: (command: string) => boolean) => {
  const uploads = await createUploadService();
  const { clock, harness, runtime } = uploads;
  const rows = Array.from({ length: 1500 }, (_, row) => `row-${row}\n`).join("");
  const { id } = dataOf(await uploads.post(`external_id\n${rows}`));
  let isAtWork = false;
  let isDead = false;
  let deaths = 0;
  for (const client of [runtime.dynamodb, runtime.s3, runtime.sqs as unknown as typeof runtime.s3]) {
    failRequests(client, (command) => {
      if (isAtWork && isFatal(command) && !isDead) {
        isDead = true;
        deaths++;
      }
      return isDead ? { name: "Killed", httpStatusCode: 400 } : undefined;
    });
  }
  /** Runs the worker of each message that waits. No message of a worker that died comes again in time. */
  const deliver = async (queue: "split" | "chunks", first?: object): Promise<void> => {
    for (const message of first ? [first] : await harness.take(queue)) {
      isAtWork = true;
      await (queue === "split" ? harness.split : harness.apply)(sqsEvent(message), lambdaContext(RUN_MS));
      isAtWork = false;
      isDead = false;
    }
  };
  /** @param phase milliseconds until the first sweep @returns the job, and the milliseconds that it took to end */
  const run = async (phase: number) => {
    const start = clock();
    await deliver("split", uploads.jobKey(id));
    await deliver("chunks");
    for (let sweeps = 0; sweeps < 60; sweeps++) {
      clock.advance(sweeps === 0 ? phase : MINUTE_MS);
      await uploads.sweep();
      await deliver("split");
      await deliver("chunks");
      const job = await uploads.get(id);
      if (job.status !== "processing") return { job, took: clock() - start, deaths };
    }
    throw new Error("the job does not end");
  };
  return { run };
};

/** Just before and after a claim ends, and a check is due. */
const PHASES = [1000, 39_000, 41_000, 54_000, 59_000];

it.each(PHASES)("a file whose reader always dies fails within ten minutes; first sweep after %i ms", async (phase) => {
  const { run } = await createDying((command) => command === "GetObjectCommand");
  const { job, took, deaths } = await run(phase);
  expect(job).toMatchObject({ status: "failed", error: "the file could not be read after repeated tries" });
  expect(deaths).toBe(6);
  expect(took).toBeLessThan(TEN_MINUTES_MS);
});

it.each(PHASES)(
  "rows whose worker always dies fail their job within ten minutes; first sweep after %i ms",
  async (phase) => {
    const { run } = await createDying((command) => command === "BatchGetItemCommand");
    const { job, took, deaths } = await run(phase);
    expect(job).toMatchObject({
      status: "failed",
      error: expect.stringContaining("applying the rows after row 0 makes no progress") as string,
    });
    expect(deaths).toBe(7);
    expect(took).toBeLessThan(TEN_MINUTES_MS);
  },
);

it("a file that takes longer to read than a sweep waits fails within ten minutes, though S3 answers", async () => {
  const uploads = await createUploadService();
  const { clock, harness, runtime } = uploads;
  const { id } = dataOf(await uploads.post("external_id\nA\n"));
  const split = () => harness.split(sqsEvent(uploads.jobKey(id)), lambdaContext(RUN_MS));
  const start = clock();
  let reads = 0;
  // While one worker waits for the first row, the sweep finds its claim over and sends the job to another.
  const readSlowly = async (): Promise<void> => {
    if (++reads > 20) throw new Error("the job does not end");
    clock.advance(MINUTE_MS);
    await uploads.sweep();
    for (const _ of await harness.take("split")) await split();
  };
  aroundRequests(runtime.s3, async (command, _, send) => {
    if (command === "GetObjectCommand") await readSlowly();
    return send();
  });
  await split();
  expect(await uploads.get(id)).toMatchObject({
    status: "failed",
    error: "the file could not be read after repeated tries",
  });
  expect(clock() - start).toBeLessThan(TEN_MINUTES_MS);
});
