import { checkoutOf, thisCheckout } from "./rolling/checkouts.ts";
import { runRolling } from "./rolling/run-rolling.ts";
import { skip } from "./skip.ts";

/**
 * Runs for `npm run prove -- rolling`. `ROLLING_OLDER` is the commit that is deployed, `ROLLING_NEWER` the one after it;
 * without a newer one it is the checkout as it is.
 */
const { ROLLING_OLDER: olderCommit, ROLLING_NEWER: newerCommit } = process.env;
const SEED = Number(process.env["ROLLING_SEED"] ?? 20_261_123);
const JOBS = Number(process.env["ROLLING_JOBS"] ?? 6);
const KILLS = Number(process.env["ROLLING_KILLS"] ?? 6);

if (olderCommit === undefined) skip("which commit is deployed? ROLLING_OLDER=<commit> npm run prove -- rolling");
await using older = checkoutOf(olderCommit);
await using newer = newerCommit === undefined ? thisCheckout() : checkoutOf(newerCommit);
const run = await runRolling(older.directory, newer.directory, { jobs: JOBS, kills: KILLS, seed: SEED });
for (const difference of run.differences.slice(0, 20)) console.log(JSON.stringify(difference).slice(0, 2000));
process.exitCode = run.differences.length === 0 ? 0 : 1;
console.log(
  `rolling calls ${run.calls}, jobs ${run.jobs}, by older ${run.older}, by newer ${run.newer}, differences ${run.differences.length}`,
);
