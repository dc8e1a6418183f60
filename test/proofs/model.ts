import { startEngines } from "../support/engines.ts";
import { runHistories } from "./model/histories.ts";
import { runSequences } from "./model/sequences.ts";

/** Runs for `npm run prove -- model`. */
const SEED = Number(process.env["MODEL_SEED"] ?? 20_261_121);
const SEQUENCES = Number(process.env["MODEL_SEQUENCES"] ?? 10_000);
const HISTORIES = Number(process.env["MODEL_HISTORIES"] ?? 1000);

const stop = await startEngines();
try {
  const { histories, unknown } = await runHistories(HISTORIES, SEED);
  const { sequences, commands } = await runSequences(SEQUENCES, SEED);
  console.log(`sequences ${sequences}, commands ${commands}, histories ${histories} with ${unknown} unknown outcomes`);
} finally {
  await stop();
}
