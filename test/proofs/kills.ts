import { runKills } from "./kills/run-kills.ts";

/** Runs for `npm run prove -- kills`. */
const SEED = Number(process.env["KILLS_SEED"] ?? 20_261_121);
const KILLS = Number(process.env["KILLS"] ?? 50);
const JOBS = Number(process.env["KILLS_JOBS"] ?? 25);

const { kills, acknowledged, repeated, jobs, differences } = await runKills(KILLS, JOBS, SEED);
for (const difference of differences.slice(0, 20)) console.log(JSON.stringify(difference));
process.exitCode = differences.length === 0 ? 0 : 1;
console.log(
  `kills ${kills}, acknowledged writes ${acknowledged}, repeated calls ${repeated}, jobs ${jobs}, differences ${differences.length}`,
);
