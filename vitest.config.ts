import { defineConfig } from "vitest/config";
import { SlowFirst } from "./test/support/slow-first.ts";

export default defineConfig({
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    include: ["test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // The modules of SDK and CDK are loaded once for each worker instead of once for each file: a third of the CPU time.
    isolate: false,
    sequence: { sequencer: SlowFirst },
  },
});
