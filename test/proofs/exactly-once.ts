import { runTests } from "../support/test-run.ts";

/** Runs for `npm run prove -- exactly-once`. */
process.env["UPLOAD_FAULT_TIMES"] ??= "2.5";
const { failed } = await runTests(["test/proofs/exactly-once/"]);
process.exit(failed === 0 ? 0 : 1);
