import { startVitest } from "vitest/node";

const SLOWEST_SHOWN = 10;

/** Something that took time: a test file, a proof. */
export interface Timed {
  readonly name: string;
  readonly ms: number;
}

/** The tests of a run, by their result, and its files. */
export interface TestRun {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly files: readonly Timed[];
}

/**
 * Runs tests. A file that can't be loaded or a suite without tests counts as one failed test, and so does a run without
 * any.
 * @param filters parts of paths; all files if there is none
 * @param project of `vitest.config.ts`; all if it is undefined
 */
export async function runTests(filters: readonly string[], project?: "behaviour" | "proofs"): Promise<TestRun> {
  const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
  const files: Timed[] = [];
  try {
    const vitest = await startVitest("test", [...filters], {
      run: true,
      watch: false,
      ...(project === undefined ? {} : { project }),
    });
    for (const module of vitest.state.getTestModules()) {
      for (const test of module.children.allTests()) count[test.result().state] += 1;
      if (module.errors().length > 0) count.failed += 1;
      const { collectDuration, duration } = module.diagnostic();
      files.push({ name: module.relativeModuleId, ms: collectDuration + duration });
    }
    count.failed += vitest.state.getUnhandledErrors().length;
    await vitest.close();
  } catch (error) {
    console.error(error);
    count.failed += 1;
  }
  const { passed, skipped } = count;
  return { passed, failed: passed + count.failed === 0 ? 1 : count.failed, skipped, files };
}

/** Prints what took longest. */
export function printSlowest(all: readonly Timed[]): void {
  console.log("\nSlowest:");
  for (const { name, ms } of all.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST_SHOWN)) {
    console.log(`${(ms / 1000).toFixed(1).padStart(8)} s  ${name}`);
  }
}
