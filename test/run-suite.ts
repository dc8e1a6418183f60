import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { startVitest } from "vitest/node";

/** Checks types, lint and format. @returns what it printed, and whether it found nothing */
const runCheck = async (): Promise<{ readonly isGood: boolean; readonly printed: string }> => {
  const child = spawn("npm", ["run", "--silent", "check"], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null)).once("close", resolve);
  });
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { isGood: (await ended) === 0, printed: out + error };
};

/**
 * Runs for `npm test`: all tests, and beside them the check of types, lint and format, since some tests mostly wait. The
 * last line of the output is `N passed, N failed`. A failed check counts as one failed test, and so does a file that
 * cannot be loaded, or a suite without tests.
 */
const filters = process.argv.slice(2);
const checking = filters.length > 0 ? undefined : runCheck();
let passed = 0;
let failed = 0;
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
const check = await checking;
if (check !== undefined) console.log(check.printed);
if (check?.isGood === false) {
  failed += 1;
  console.error("Types, lint or format failed: see above.");
}
if (passed + failed === 0) failed = 1;
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
