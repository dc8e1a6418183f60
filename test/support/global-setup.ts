import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startEngines } from "./engines.ts";

/**
 * Starts the embedded engines once for the whole suite, a DynamoDB for each worker. Every test file provisions its own
 * resources in them. Temporary
 * files of all tests are in one directory, which is removed at the end.
 */
export default async function setup({ vitest }: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), "work-items-test-"));
  process.env["TMPDIR"] = directory;
  // Workers and the processes that tests start share compiled code with earlier runs: it saves each a third of its start.
  process.env["NODE_COMPILE_CACHE"] = join(import.meta.dirname, "../../node_modules/.cache/node");
  const stop = await startEngines(vitest.config.maxWorkers);
  return async () => {
    await stop();
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  };
}
