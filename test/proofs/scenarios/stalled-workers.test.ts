import { expect, it } from "vitest";
import { aroundRequests, failRequests } from "../../support/faults.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { sqsEvent } from "../../support/uploads/upload-harness.ts";
import { createUploadService, dataOf, MINUTE_MS } from "../../support/uploads/upload-service.ts";

const TEN_MINUTES_MS = 10 * MINUTE_MS;
const RUN_MS = 120_000;

/** Just before and after a claim ends, and a check is due. */
const PHASES = [1000, 39_000, 41_000, 54_000, 59_000];

it.each(PHASES)("a file whose reader always dies fails within ten minutes; first sweep after %i ms", async (phase) => {
  const uploads = await createUploadService();
  const { clock, harness, runtime } = uploads;
  const { id } = dataOf(await uploads.post("external_id\nA\n"));
  const start = clock();
  let isDead = false;
  let deaths = 0;
  // A worker that dies as it reads the file carries out nothing after that.
  for (const client of [runtime.dynamodb, runtime.s3, runtime.sqs as unknown as typeof runtime.s3]) {
    failRequests(client, (command) => {
      if (command === "GetObjectCommand" && !isDead) {
        isDead = true;
        deaths++;
      }
      return isDead ? { name: "Killed", httpStatusCode: 400 } : undefined;
    });
  }
  const deliver = async (messages: readonly object[]): Promise<void> => {
    for (const message of messages) {
      await harness.split(sqsEvent(message), lambdaContext(RUN_MS));
      isDead = false;
    }
  };
  await deliver([uploads.jobKey(id)]);
  for (let sweeps = 0; (await uploads.get(id)).status === "processing"; sweeps++) {
    clock.advance(sweeps === 0 ? phase : MINUTE_MS);
    await uploads.sweep();
    await deliver(await harness.take("split"));
  }
  expect(await uploads.get(id)).toMatchObject({
    status: "failed",
    error: "the file could not be read after repeated tries",
  });
  expect(deaths).toBe(6);
  expect(clock() - start).toBeLessThan(TEN_MINUTES_MS);
});

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
