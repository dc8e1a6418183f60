import { beforeEach, describe, expect, it } from "vitest";
import { lambdaContext } from "../../support/lambda-context.ts";
import { sqsEvent } from "../../support/uploads/upload-harness.ts";
import { createUploadService, MINUTE_MS, type UploadService } from "../../support/uploads/upload-service.ts";
import { aroundRequests } from "../../support/faults.ts";

let uploads: UploadService;
beforeEach(async () => {
  uploads = await createUploadService();
});

/** Lets every worker die that is about to write one of these items: nothing more is heard of it. */
const killAt = (...externalIds: readonly string[]) => {
  const written = new RegExp(`"(${externalIds.join("|")})"`);
  let died = Promise.withResolvers<"died">();
  aroundRequests(uploads.runtime.dynamodb, (command, input, send) => {
    const isWrite = /^(BatchExecuteStatement|PutItem|Put|Update)/.test(command);
    if (!isWrite || !written.test(JSON.stringify(input))) return send();
    died.resolve("died");
    return Promise.withResolvers<never>().promise;
  });
  /** Hands a message to a worker, until that has ended or died. */
  return async (message: Record<string, unknown>) => {
    died = Promise.withResolvers();
    const ended = uploads.harness.apply(sqsEvent(message), lambdaContext(120_000));
    return Promise.race([ended, died.promise]);
  };
};

/** Runs a job, with a sweep each minute. @returns milliseconds until it had ended, and how many workers had died */
const run = async (id: string, work: ReturnType<typeof killAt>) => {
  const began = uploads.clock();
  let deaths = 0;
  await uploads.split(id);
  while (uploads.clock() - began < 30 * MINUTE_MS) {
    for (
      let messages = await uploads.harness.take("chunks");
      messages.length > 0;
      messages = await uploads.harness.take("chunks")
    ) {
      for (const message of messages) if ((await work(message)) === "died") deaths++;
    }
    const { status } = await uploads.get(id);
    if (status !== "processing") return { milliseconds: uploads.clock() - began, deaths };
    uploads.clock.advance(MINUTE_MS);
    await uploads.sweep();
  }
  throw new Error("the job has not ended");
};

const fileOf = (rows: number) =>
  `external_id,type\n${Array.from({ length: rows }, (_, row) => `D-${row},call\n`).join("")}`;

describe("a row at which every worker dies", () => {
  it.each([
    { rows: 1, deadly: 0 },
    { rows: 250, deadly: 137 },
    { rows: 2500, deadly: 0 },
    { rows: 2500, deadly: 1730 },
    { rows: 2500, deadly: 2499 },
  ])("fails alone within ten minutes, and the others are applied ($deadly of $rows)", async ({ rows, deadly }) => {
    const { id } = await uploads.harness.upload(uploads.organization, fileOf(rows));
    const { milliseconds, deaths } = await run(id, killAt(`D-${deadly}`));
    expect(await uploads.get(id)).toMatchObject({
      status: "completed",
      total_rows: rows,
      succeeded_rows: rows - 1,
      created_rows: rows - 1,
      failed_rows: 1,
    });
    expect(milliseconds).toBeLessThanOrEqual(10 * MINUTE_MS);
    expect(deaths).toBeGreaterThan(3);
    const [, line] = await uploads.report(id);
    expect(line).toBe(`D-${deadly},call,${deadly + 2},the row cannot be applied,,,invalid`);
    const results = await uploads.resultLines(id);
    expect(results).toHaveLength(rows);
    expect(results[deadly]).toBe(`${deadly + 2},D-${deadly},,error`);
    const created = results.filter((each) => each.endsWith(",created"));
    expect(created).toHaveLength(rows - 1);
    for (const row of [0, rows - 1].filter((each) => each !== deadly)) {
      expect(await uploads.getItem(`D-${row}`)).toMatchObject({ type: "call" });
    }
  });

  it("fails the job within ten minutes with a second such row, and names it", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, fileOf(300));
    const { milliseconds } = await run(id, killAt("D-40", "D-41"));
    expect(milliseconds).toBeLessThanOrEqual(10 * MINUTE_MS);
    const job = await uploads.get(id);
    expect(job).toMatchObject({ status: "failed", error: "applying row 43 makes no progress", total_rows: 300 });
    // Exactly what was written is counted and listed.
    const results = await uploads.resultLines(id);
    expect(results).toHaveLength(job["succeeded_rows"] + job["failed_rows"]);
    const listed = results.filter((line) => line.endsWith(",created")).map((line) => line.split(",")[1]);
    const written: string[] = [];
    for (let from = 0; from < 300; from += 100) {
      const work_items = Array.from({ length: 100 }, (_, row) => ({ external_id: `D-${from + row}`, type: "call" }));
      const { body } = await uploads.call("applyWorkItemBatch", { body: { work_items, dry_run: true } });
      const { results: found } = body.data;
      written.push(...found.filter(({ status }) => status === "unchanged").map((item) => item.external_id));
    }
    expect(listed).toEqual(written);
    expect(written).toEqual(expect.arrayContaining(["D-0", "D-39"]));
  });
});
