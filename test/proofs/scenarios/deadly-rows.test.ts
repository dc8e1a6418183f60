import { beforeEach, describe, expect, it } from "vitest";
import { lambdaContext } from "../../support/lambda-context.ts";
import { sqsEvent } from "../../support/uploads/upload-harness.ts";
import { createUploadService, MINUTE_MS, type UploadService } from "../../support/uploads/upload-service.ts";
import { aroundRequests } from "../../support/faults.ts";

let uploads: UploadService;
beforeEach(async () => {
  uploads = await createUploadService();
});

/** Lets every worker die that is about to write an item: nothing more is heard of it. */
const killAt = (externalId: string) => {
  const written = `"${externalId}"`;
  let died = Promise.withResolvers<"died">();
  aroundRequests(uploads.runtime.dynamodb, (command, input, send) => {
    const isWrite = /^(BatchExecuteStatement|PutItem|Put|Update)/.test(command);
    if (!isWrite || !JSON.stringify(input).includes(written)) return send();
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

/** IDs that are short: the largest file has one shard, of two chunks. */
const externalIdOf = (row: number): string => `x${row.toString(36)}`;

/** @returns the IDs of those of the first items that exist */
const findWritten = async (items: number): Promise<string[]> => {
  const written: string[] = [];
  for (let from = 0; from < items; from += 100) {
    const work_items = Array.from({ length: Math.min(100, items - from) }, (_, row) => ({
      external_id: externalIdOf(from + row),
    }));
    const { body } = await uploads.call("applyWorkItemBatch", { body: { work_items, dry_run: true } });
    const { results } = body.data;
    written.push(...results.filter(({ status }) => status === "unchanged").map((item) => item.external_id));
  }
  return written;
};

describe("a row at which every worker dies", () => {
  // The first worker has windows of a thousand rows, those after it of a hundred. Row 1 is the header.
  it.each([
    { rows: 1, deadly: 0, deaths: 6, after: 0 },
    { rows: 250, deadly: 137, deaths: 7, after: 101 },
    { rows: 2500, deadly: 0, deaths: 6, after: 0 },
    { rows: 2500, deadly: 1730, deaths: 7, after: 1701 },
    { rows: 2500, deadly: 2499, deaths: 7, after: 2401 },
    { rows: 10_100, deadly: 10_017, deaths: 6, after: 10_001 },
  ])(
    "fails the job, which names the row before its hundred and counts what was written ($deadly of $rows)",
    async ({ rows, deadly, after, ...expected }) => {
      const ids = Array.from({ length: rows }, (_, row) => externalIdOf(row));
      const { id } = await uploads.harness.upload(uploads.organization, `external_id\n${ids.join("\n")}\n`);
      const { milliseconds, deaths } = await run(id, killAt(externalIdOf(deadly)));
      const written = await findWritten(rows);
      expect(await uploads.get(id)).toMatchObject({
        status: "failed",
        error: `applying the rows after row ${after} makes no progress`,
        total_rows: rows,
        created_rows: written.length,
        failed_rows: 0,
      });
      const results = written.length === 0 ? [] : await uploads.resultLines(id);
      expect(results.map((line) => line.split(",")[1])).toEqual(written);
      expect(written.length).toBeGreaterThanOrEqual(Math.max(0, after - 1));
      expect(deaths).toBe(expected.deaths);
      expect(milliseconds).toBeLessThanOrEqual(10 * MINUTE_MS);
    },
  );
});
