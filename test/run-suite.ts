import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { namesProofs, proofsWith } from "./support/proof-files.ts";
import { printSlowest, runTests } from "./support/test-run.ts";

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
 * Runs for `npm test`: all tests but the proofs, and beside them the check of types, lint and format, since some tests
 * mostly wait. With parts of paths it runs the tests that have them, and no check; proofs only if a part names them. The
 * last line of the output is `N passed, N failed`. A failed check counts as one failed test.
 */
const filters = process.argv.slice(2);
const checking = filters.length > 0 ? undefined : runCheck();
const proofs = proofsWith(filters);
const withProofs = proofs.length > 0 && filters.some(namesProofs);
if (withProofs) console.log(`Among these are proofs, which take minutes: ${proofs.join(" ")}`);
const run = await runTests(filters, withProofs ? undefined : "behaviour");
let { failed } = run;
const check = await checking;
if (check !== undefined) console.log(check.printed);
if (check?.isGood === false) {
  failed += 1;
  console.error("Types, lint or format failed: see above.");
}
printSlowest(run.files);
if (proofs.length > 0 && !withProofs) {
  console.log(`Proofs take minutes and were not run. To run them: npm test -- ${proofs.join(" ")}`);
}
console.log(`${run.passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
