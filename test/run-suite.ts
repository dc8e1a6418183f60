import { spawnSync } from "node:child_process";
import { startVitest } from "vitest/node";

/**
 * Runs for `npm test`: checks types, lint and format, then runs all tests. The last line of the output is
 * `N passed, N failed`. A failed check counts as one failed test, and so does a file that cannot be loaded, or a suite
 * without tests.
 */
const filters = process.argv.slice(2);
const check = filters.length > 0 ? 0 : spawnSync("npm", ["run", "--silent", "check"], { stdio: "inherit" }).status;
let passed = 0;
let failed = check === 0 ? 0 : 1;
try {
  const vitest = await startVitest("test", filters, { run: true, watch: false });
  for (const module of vitest.state.getTestModules()) {
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed") passed += 1;
      else if (state === "failed") failed += 1;
    }
    if (module.errors().length > 0) failed += 1;
  }
  failed += vitest.state.getUnhandledErrors().length;
  await vitest.close();
} catch (error) {
  console.error(error);
  failed += 1;
}
if (passed + failed === 0) failed = 1;
if (check !== 0) console.error("Types, lint or format failed: see above the tests.");
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
