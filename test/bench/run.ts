import { parseArgs } from "node:util";
import type { BenchRow } from "./row.ts";

interface Bench {
  readonly about: string;
  readonly load: () => Promise<{ readonly measure: () => Promise<BenchRow[]> }>;
}

const BENCHES: Readonly<Record<string, Bench>> = {
  batch: { about: "requests, units and CPU of batches of 100", load: () => import("./batch.ts") },
  read: { about: "requests, units and CPU of get and list, up to a million items", load: () => import("./read.ts") },
  uploads: { about: "speed, CPU and memory of files of rows", load: () => import("./uploads.ts") },
  undo: { about: "speed and memory of undoing a file", load: () => import("./undo.ts") },
  changes: { about: "units and CPU of the change feed", load: () => import("./changes.ts") },
  cost: { about: "capacity units of an item, by operation", load: () => import("./cost.ts") },
  cold: { about: "CPU of cold starts", load: () => import("./cold.ts") },
};
const ABOUT = Object.entries(BENCHES).map(([name, { about }]) => `  ${name.padEnd(15)}${about}`);
const USAGE = `npm run bench -- [bench …] [options]

Runs the benches that you name, or all. Exits with 1 if a goal isn't met.

${ABOUT.join("\n")}

  --json  prints JSON
  --help  shows this`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean" }, help: { type: "boolean" } },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
const unknown = positionals.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(", ")}.\n\n${USAGE}`);
  process.exit(2);
}
const names = positionals.length > 0 ? positionals : Object.keys(BENCHES);

const rows: BenchRow[] = [];
for (const name of names) {
  const { measure } = await BENCHES[name]!.load();
  rows.push(...(await measure()));
}

const formatted = (value: number | null | undefined): string =>
  value?.toLocaleString("en", { maximumFractionDigits: 2 }) ?? "";
if (values.json) console.log(JSON.stringify(rows, null, 2));
else {
  console.table(
    rows.map(({ section, name, value, unit, floor, ratio, goal, holds }) => ({
      section,
      name,
      value: formatted(value),
      unit,
      floor: formatted(floor),
      ratio: formatted(ratio),
      goal: goal ?? "",
      holds: holds === null ? "" : holds ? "yes" : "NO",
    })),
  );
}
process.exitCode = rows.some(({ holds }) => holds === false) ? 1 : 0;
