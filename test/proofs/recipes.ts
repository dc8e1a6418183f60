import { runTests } from "../support/test-run.ts";

/** Runs for `npm run prove -- recipes`. */
process.env["RECIPES"] = "all";
const { failed } = await runTests(["test/proofs/recipes/"]);
process.exit(failed === 0 ? 0 : 1);
