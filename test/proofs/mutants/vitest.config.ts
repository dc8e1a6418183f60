import { defineConfig } from "vitest/config";

/** Of a run by Stryker, which names the tests. */
export default defineConfig({
  test: {
    include: process.env["MUTANTS_TESTS"]?.split(" ") ?? [],
    globalSetup: ["test/support/global-setup.ts"],
    isolate: false,
    // Stryker reports what it needs.
    reporters: [{}],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
