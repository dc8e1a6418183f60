import { startEngines } from "../support/engines.ts";
import { runFuzz } from "./fuzz/fuzz.ts";

/** Runs for `npm run prove -- fuzz`. */
const SEED = Number(process.env["FUZZ_SEED"] ?? Date.now() % 1_000_000_000);
const REQUESTS = Number(process.env["FUZZ_REQUESTS"] ?? 20_000);

console.log(`FUZZ_SEED=${SEED} FUZZ_REQUESTS=${REQUESTS}`);
const stop = await startEngines();
try {
  const { requests, statuses, accepted, refused, jobs } = await runFuzz(REQUESTS, SEED);
  console.log(`requests ${requests}: ${accepted} as documented, ${refused} not, jobs ${jobs}`);
  console.log(`statuses ${JSON.stringify(statuses)}`);
} finally {
  await stop();
}
