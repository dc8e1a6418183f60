import { expect, it } from "vitest";
import { createTestClock } from "../support/clock.ts";
import { createTestOrganization } from "../support/organization.ts";
import { createTestRuntime } from "../support/runtime.ts";
import { createWorkers } from "../support/uploads/upload-workers.ts";

const RUN_MS = 90_000;
const TEN_MINUTES_MS = 600_000;
const RUNS_MAX = 60;

const setUp = async () => {
  const clock = createTestClock();
  const runtime = await createTestRuntime({ clock });
  const { organization } = await createTestOrganization(runtime);
  const workers = createWorkers(runtime);
  /** Makes each read of items take time; every request is answered. @param costOf milliseconds, by the number of keys */
  const slowDown = (costOf: (keys: number) => number): void => {
    runtime.dynamodb.middlewareStack.add(
      (next, context) => async (request) => {
        if (context.commandName === "BatchGetItemCommand") {
          const { RequestItems = {} } = request.input as { RequestItems?: Record<string, { Keys: unknown[] }> };
          clock.advance(costOf(Object.values(RequestItems).reduce((sum, { Keys }) => sum + Keys.length, 0)));
        }
        return next(request);
      },
      { step: "initialize", name: "slow" },
    );
  };
  /** Uploads a file of one part and applies it until its job has ended. @returns the job, and milliseconds that it took */
  const apply = async (rows: number) => {
    const ids = Array.from({ length: rows }, (_, index) => `s-${index}\n`).join("");
    const job = await workers.upload(organization, { text: `external_id\n${ids}` });
    await workers.handle(JSON.stringify({ ...job, offset: 0 }), clock() + RUN_MS);
    const start = clock();
    const sizes: number[] = [];
    for (let run = 0; run < RUNS_MAX; run++) {
      await workers.handle(JSON.stringify({ ...job, part: 0, segment: 0, offset: 0 }), clock() + RUN_MS);
      const { job: now, parts } = (await workers.store.read(job))!;
      if (now.status !== "processing") return { job: now, sizes, took: clock() - start };
      sizes.push(parts[0]?.rows_at_once ?? 0);
    }
    throw new Error("the job does not end");
  };
  return { slowDown, apply };
};

it("a window that is too slow by itself is halved until its rows can be saved", async () => {
  const { slowDown, apply } = await setUp();
  slowDown((keys) => keys * 4000);
  const { job, sizes } = await apply(40);
  expect(job).toMatchObject({ status: "completed", succeeded_rows: 40, failed_rows: 0 });
  expect(sizes.slice(0, 3)).toEqual([20, 10, 5]);
});

it("a job whose requests are answered and that saves nothing fails within ten minutes and names the row", async () => {
  const { slowDown, apply } = await setUp();
  slowDown(() => 26_000);
  const { job, sizes, took } = await apply(40);
  expect(job).toMatchObject({ status: "failed", succeeded_rows: 0, error: "row 2 takes too long to apply" });
  expect(sizes.slice(0, 6)).toEqual([20, 10, 5, 2, 1, 1]);
  expect(took).toBeLessThan(TEN_MINUTES_MS);
});
