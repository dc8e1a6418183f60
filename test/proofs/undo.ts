import { runUndos } from "./undo/run-undos.ts";

/** Runs for `npm run prove -- undo`. */
const FIRST = Number(process.env["UNDO_FIRST_SEED"] ?? 1);
const SEEDS = Number(process.env["UNDO_SEEDS"] ?? 40_000);

const { wrong, undone, deaths, dropped } = runUndos(FIRST, SEEDS);
console.log(`seeds ${SEEDS}, wrong ${wrong.length}, undone ${undone}, deaths ${deaths}, dropped ${dropped}`);
for (const each of wrong.slice(0, 20)) console.log(`  ${each}`);
process.exitCode = wrong.length === 0 ? 0 : 1;
