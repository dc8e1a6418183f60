import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { CLAIM_MS } from "../../lib/uploads/job/claim.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { sqsEvent } from "../support/uploads/upload-harness.ts";
import {
  createUploadService,
  dataOf,
  manyRows,
  MINUTE_MS,
  type UploadService,
} from "../support/uploads/upload-service.ts";
import { aroundRequests } from "../support/faults.ts";

let uploads: UploadService;
beforeEach(async () => {
  uploads = await createUploadService();
});

interface Update {
  readonly UpdateExpression?: string;
}

/**
 * Lets one shard count its rows, and the others only once the job's shards are told to stop: however fast they are,
 * they cannot end before.
 * @returns resolves when the first rows are counted
 */
const holdCounts = (): Promise<void> => {
  const counted = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  let counts = 0;
  aroundRequests(uploads.runtime.dynamodb, async (_, { UpdateExpression: update = "" }: Update, send) => {
    const isCount = update.includes("#succeeded ");
    if (isCount && ++counts > 1) await stopped.promise;
    const response = await send();
    if (isCount) counted.resolve();
    if (update.includes("#stop ")) stopped.resolve();
    return response;
  });
  return counted.promise;
};

/** How many of the rows of `manyRows` are in the store. */
const countWritten = async (rows: number): Promise<number> => {
  let written = 0;
  for (let row = 0; row < rows; row += 100) {
    const work_items = Array.from({ length: 100 }, (_, index) => ({
      external_id: `L-${row + index}`,
      custom_attributes: { text: "x".repeat(100) },
    }));
    const dryRun = await uploads.call("applyWorkItemBatch", { body: { work_items, dry_run: true } });
    written += dryRun.body.data.summary.unchanged;
  }
  return written;
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

  it("stops each shard when it counts next, counts what was applied, and goes no further", async () => {
    const id = await uploads.begin(manyRows(12_000));
    const firstCount = holdCounts();
    const delivering = uploads.harness.deliver("chunks");
    await firstCount;
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
    expect(await countWritten(12_000)).toBe(job["succeeded_rows"]);
    expect(await uploads.resultLines(id)).toHaveLength(job["succeeded_rows"]);
  });

  /** A job of 12,000 rows, of which one shard is applied; the messages of the others are lost. */
  const halfDone = async () => {
    const id = await uploads.begin(manyRows(12_000));
    const [message] = await uploads.harness.take("chunks");
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
    while ((await uploads.harness.deliver("chunks")) === 0) await sleep(10);
    const { status, body } = await cancelling;
    const job = { status: "cancelled", succeeded_rows: applied, total_rows: 12_000 };
    expect({ status, job: body.data }).toMatchObject({ status: 200, job });
    expect(await uploads.resultLines(id)).toHaveLength(applied);
  });

  it("responds after five seconds if no worker has time, and the job ends nevertheless", async () => {
    const { id, applied } = await halfDone();
    const ticking = setInterval(() => uploads.clock.advance(1000), 50);
    const { status, body, headers } = await uploads.cancel(id);
    clearInterval(ticking);
    expect({ status, job: body.data }).toMatchObject({ status: 200, job: { status: "processing" } });
    expect(headers["retry-after"]).toBeDefined();
    expect(await uploads.harness.take("chunks")).toHaveLength(1);
    await uploads.later(2 * MINUTE_MS);
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

describe("cancelling a job whose worker has written items that it didn't count", () => {
  /** Rows of which every second one changes an item that exists; row 9 is invalid. */
  const rowsOf = (rows: number) =>
    Array.from({ length: rows }, (_, index) => ({
      external_id: `W-${index}`,
      type: "new",
      status: index === 7 ? "unheard-of" : "pending",
    }));
  const apply = async (work_items: readonly object[], dry_run: boolean) => {
    let unchanged = 0;
    for (let from = 0; from < work_items.length; from += 100) {
      const body = { work_items: work_items.slice(from, from + 100), dry_run };
      unchanged += (await uploads.call("applyWorkItemBatch", { body })).body.data.summary.unchanged;
    }
    return unchanged;
  };
  const writtenOf = (rows: number) =>
    apply(
      rowsOf(rows).map(({ external_id, type }) => ({ external_id, type })),
      true,
    );

  /** Freezes the worker at a read of items. @returns when it is frozen, and what lets it continue */
  const freezeAtRead = (number: number) => {
    const frozen = Promise.withResolvers<void>();
    const thawed = Promise.withResolvers<void>();
    let reads = 0;
    aroundRequests(uploads.runtime.dynamodb, async (command, _, send) => {
      if (command.startsWith("BatchGet") && ++reads === number) {
        frozen.resolve();
        await thawed.promise;
      }
      return send();
    });
    return { frozen: frozen.promise, thaw: () => thawed.resolve() };
  };

  // The second group of a window is read by one request or, with the plans of a dry run, by two.
  it.each([
    { rows: 300, dryRun: false, frozenAt: 2, counted: 0, failed: 0, written: 99 },
    { rows: 1300, dryRun: false, frozenAt: 12, counted: 999, failed: 1, written: 1099 },
    { rows: 300, dryRun: true, frozenAt: 3, counted: 0, failed: 0, written: 99 },
    { rows: 1300, dryRun: true, frozenAt: 23, counted: 999, failed: 1, written: 1099 },
  ])(
    "counts and lists exactly the rows that were written, and the worker writes nothing more ($rows rows, dry run: $dryRun)",
    async ({ rows, dryRun, frozenAt, counted, failed, written }) => {
      const writtenToItems = dryRun ? 0 : written;
      const items = rowsOf(rows);
      await apply(
        items.filter((_, index) => index % 2 === 0).map(({ external_id }) => ({ external_id, type: "old" })),
        false,
      );
      const text = items.map(({ external_id, type, status }) => `${external_id},${type},${status}\n`).join("");
      const { id } = dataOf(await uploads.post(`external_id,type,status\n${text}`, { dry_run: String(dryRun) }));
      await uploads.split(id);
      const [message, ...others] = await uploads.harness.take("chunks");
      expect(others).toEqual([]);
      const { frozen, thaw } = freezeAtRead(frozenAt);
      const delivery = uploads.harness.apply(sqsEvent(message), lambdaContext(120_000));
      await frozen;
      expect(await uploads.get(id)).toMatchObject({ status: "processing", succeeded_rows: counted });
      expect(await writtenOf(rows)).toBe(writtenToItems);

      uploads.clock.advance(CLAIM_MS + 1);
      const cancelling = uploads.cancel(id);
      while ((await uploads.harness.deliver("chunks")) === 0) await sleep(10);
      const { body } = await cancelling;
      const job = body.data;
      expect(job).toMatchObject({
        status: "cancelled",
        total_rows: rows,
        succeeded_rows: written,
        // Of every two rows one item is new; the invalid one would have been.
        created_rows: Math.floor(written / 2),
        updated_rows: Math.ceil(written / 2),
        unchanged_rows: 0,
        failed_rows: failed,
      });
      // Those of recognized rows too.
      expect(job["changed_fields"]).toEqual(dryRun ? { type: Math.ceil(written / 2) } : undefined);
      const results = (await uploads.resultLines(id)).map((line) => line.split(","));
      expect(results.map(([row, externalId, , outcome]) => [row, externalId, outcome])).toEqual(
        items
          .slice(0, written + 1)
          .map(({ external_id }, index) => [
            String(index + 2),
            index === 7 ? "W-7" : external_id,
            index === 7 ? "error" : index % 2 === 0 ? "updated" : "created",
          ])
          .filter(([, , outcome]) => failed > 0 || outcome !== "error"),
      );
      const values = `"{""type"":{""from"":""old"",""to"":""new""}}"`;
      const shown = results.map(([row, , , outcome, ...changes]) => {
        const isRecognized = Number(row) > counted + failed + 1;
        return [changes.join(), dryRun && outcome === "updated" ? (isRecognized ? '"[""type""]"' : values) : ""];
      });
      expect(shown.filter(([actual, right]) => actual !== right)).toEqual([]);

      thaw();
      await delivery;
      await uploads.harness.drain();
      expect(await writtenOf(rows)).toBe(writtenToItems);
      expect(await uploads.get(id)).toEqual(job);
    },
  );
});
