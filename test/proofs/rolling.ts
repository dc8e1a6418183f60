import { checkoutOf, thisCheckout } from "./rolling/checkouts.ts";
import { runRolling } from "./rolling/run-rolling.ts";

/** `npm run test:rolling -- <older commit> [<newer commit>]`; without a newer one, the checkout as it is. */
const SEED = Number(process.env["ROLLING_SEED"] ?? 20_261_123);
const JOBS = Number(process.env["ROLLING_JOBS"] ?? 6);
const KILLS = Number(process.env["ROLLING_KILLS"] ?? 6);

const [, , olderCommit, newerCommit] = process.argv;
if (olderCommit === undefined) {
  console.error("which commit is deployed? npm run test:rolling -- <older commit> [<newer commit>]");
  process.exit(2);
}
await using older = checkoutOf(olderCommit);
await using newer = newerCommit === undefined ? thisCheckout() : checkoutOf(newerCommit);
const run = await runRolling(older.directory, newer.directory, { jobs: JOBS, kills: KILLS, seed: SEED });
for (const difference of run.differences.slice(0, 20)) console.log(JSON.stringify(difference).slice(0, 2000));
process.exitCode = run.differences.length === 0 ? 0 : 1;
console.log(
  `rolling calls ${run.calls}, jobs ${run.jobs}, by older ${run.older}, by newer ${run.newer}, differences ${run.differences.length}`,
);
