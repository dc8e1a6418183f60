import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { changedFile } from "./test/hostile/mutants.ts";

const PROOFS = ["test/proofs/**/*.test.ts", "test/hostile/**/*.test.ts"];

/** Small files that take a minute. Vitest begins with the files that took longest, or in a new checkout with the largest. */
const LONG = /test\/(hostile|proofs\/(isolation|guides|warehouse))\//;
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId);
    // oxlint-disable-next-line unicorn/no-array-sort -- it is Vitest's method, which returns a new list
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)));
  }
}

/** Of a run that must find a defect (`test/hostile/mutants.ts`). */
const { MUTANT } = process.env;
const changed = MUTANT === undefined ? undefined : changedFile(MUTANT);

export default defineConfig({
  plugins: [{ name: "mutant", enforce: "pre", load: (id) => (id === changed?.path ? changed.source : null) }],
  test: {
    // It takes a file for what it was without the defect.
    fsModuleCache: changed === undefined,
    globalSetup: ["test/support/global-setup.ts"],
    // Only what hangs takes so long: on a busy machine everything takes many times what it takes on a quiet one.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    // More than there are cores, since some tests mostly wait.
    maxWorkers: availableParallelism() + 3,
    // The modules of SDK and CDK are loaded once for each worker, and so is the CDK's validator of templates, which
    // takes ten times as long for its first template as for the next.
    isolate: false,
    setupFiles: ["test/support/unchanged-process.ts", "test/support/cause-of-500.ts"],
    sequence: { sequencer: LongFirst },
    projects: [
      { extends: true, test: { name: "behaviour", include: ["test/**/*.test.ts"], exclude: PROOFS } },
      { extends: true, test: { name: "proofs", include: PROOFS } },
    ],
  },
});
