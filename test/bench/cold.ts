import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { BUNDLE_OPTIONS, buildFunctions } from "../../infra/build.ts";
import { MEMORY_MB, nodeOptionsFor } from "../../infra/limits.ts";
import { workItemId } from "../../lib/identity.ts";
import { apiEvent } from "../support/organization.ts";
import type { ColdStart } from "./cold-process.ts";
import { medianOf } from "./cpu.ts";
import { itemOf } from "./items.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { createBenchService, withEngines } from "./service.ts";

const { atMost } = rowsOf("cold");
const STARTS = 15;
const PROCESS = fileURLToPath(new URL("cold-process.ts", import.meta.url));
const BARE = fileURLToPath(new URL("bare-function.ts", import.meta.url));
const execute = promisify(execFile);

const startOnce = async (bundle: string, event: object, variables: Record<string, string>): Promise<ColdStart> => {
  const options = nodeOptionsFor(MEMORY_MB.reads).split(" ");
  const { stdout } = await execute(process.execPath, [...options, PROCESS, bundle, JSON.stringify(event)], {
    env: { ...process.env, ...variables, AWS_LAMBDA_FUNCTION_NAME: "bench" },
  });
  return JSON.parse(stdout) as ColdStart;
};

const measureStarts = async (directory: string): Promise<BenchRow[]> => {
  await buildFunctions(directory);
  const bare = join(directory, "bare.js");
  await build({ ...BUNDLE_OPTIONS, entryPoints: [BARE], outfile: bare });

  const { runtime, organization, key, fill } = await createBenchService();
  await fill(1, (index) => itemOf("kept", index));
  const id = workItemId(organization.id, itemOf("kept", 0).external_id);
  const event = apiEvent({ resource: "/v1/work_items/{id}", params: { id }, key });
  const variables = runtime.environment as unknown as Record<string, string>;
  const ours: ColdStart[] = [];
  const floor: ColdStart[] = [];
  for (let round = 0; round < STARTS; round++) {
    ours.push(await startOnce(join(directory, "get-work-item", "index.js"), event, variables));
    floor.push(await startOnce(bare, event, variables));
  }
  const median = (starts: readonly ColdStart[], of: keyof ColdStart) => medianOf(starts.map((start) => start[of]));
  const of = "a bare middy, zod and document client";
  return [
    atMost("CPU of importing get-work-item", median(ours, "imported"), "ms", 1.5, median(floor, "imported"), of),
    atMost("CPU until its first answer", median(ours, "answered"), "ms", 1.5, median(floor, "answered"), of),
  ];
};

/** CPU of cold starts. */
export const measure = (): Promise<BenchRow[]> =>
  withEngines(async () => {
    const directory = await mkdtemp(join(tmpdir(), "work-items-bench-"));
    try {
      return await measureStarts(directory);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
