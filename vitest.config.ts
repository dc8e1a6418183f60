import { defineConfig } from "vitest/config";
import { SlowFirst } from "./test/support/slow-first.ts";

export default defineConfig({
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    include: ["test/**/*.test.ts"],
    // Only what hangs takes so long: on a busy machine everything takes many times what it takes on a quiet one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 2,
    sequence: { sequencer: SlowFirst },
  },
});
