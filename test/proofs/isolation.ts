import { startEngines } from "../support/engines.ts";
import { searchCanaries } from "./isolation/canaries.ts";
import { tryCursors } from "./isolation/cursors.ts";
import { compareForeignIds, compareForeignNames } from "./isolation/foreign-ids.ts";
import { createTenants } from "./isolation/tenants.ts";

/** Runs for `npm run prove -- isolation`. */
const SEED = Number(process.env["ISOLATION_SEED"] ?? 20_261_121);
const CANARY_ROUNDS = 20;

const stop = await startEngines();
try {
  const tenants = await createTenants();
  const ids = await compareForeignIds(tenants);
  const names = await compareForeignNames(tenants);
  const cursors = await tryCursors(tenants, 1);
  const canaries = await searchCanaries(CANARY_ROUNDS, SEED);
  const differences = [...ids.differences, ...names.differences];
  for (const finding of [...differences, ...cursors.accepted, ...canaries.found]) console.log(JSON.stringify(finding));
  process.exitCode = differences.length + cursors.accepted.length + canaries.found.length === 0 ? 0 : 1;
  console.log(
    [
      `foreign ids and names ${ids.compared + names.compared}, differences ${differences.length}`,
      `cursors ${cursors.tried}, accepted ${cursors.accepted.length}`,
      `requests with canaries ${canaries.requests}, errors ${canaries.errors}, log lines ${canaries.logLines}, found ${canaries.found.length}`,
    ].join("; "),
  );
} finally {
  await stop();
}
