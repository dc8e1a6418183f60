import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { PROOFS } from "./test/support/proof-files.ts";
import { namingRunningTests } from "./test/support/running-tests.ts";

/** Small files that take a minute. Vitest begins with the files that took longest, or in a new checkout with the largest. */
const LONG = /test\/(hostile|proofs\/(guides|warehouse))\//;
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId);
    // oxlint-disable-next-line unicorn/no-array-sort -- it is Vitest's method, which returns a new list
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)));
  }
}

const MINUTE = 60_000;
/** The longest that a test or hook may take, on a machine that is many times slower than a quiet one. */
const limitedTo = (ms: number) => ({ testTimeout: ms, hookTimeout: ms, expect: { poll: { timeout: ms / 2 } } });

export default defineConfig({
  test: {
    fsModuleCache: true,
    globalSetup: ["test/support/global-setup.ts"],
    reporters: [...configDefaults.reporters, namingRunningTests()],
    // More than there are cores, since some tests mostly wait.
    maxWorkers: availableParallelism() + 3,
    // The modules of SDK and CDK are loaded once for each worker, and so is the CDK's validator of templates, which
    // takes ten times as long for its first template as for the next.
    isolate: false,
    setupFiles: ["test/support/own-dynamodb.ts", "test/support/unchanged-process.ts", "test/support/cause-of-500.ts"],
    sequence: { sequencer: LongFirst },
    projects: [
      {
        extends: true,
        test: { name: "behaviour", include: ["test/**/*.test.ts"], exclude: [...PROOFS], ...limitedTo(3 * MINUTE) },
      },
      { extends: true, test: { name: "proofs", include: [...PROOFS], ...limitedTo(10 * MINUTE) } },
    ],
  },
});
