import { parseArgs } from "node:util";
import type { BenchRow } from "./row.ts";

/** `npm run bench -- [section …] [--json]` prints a table or JSON, and exits with 1 if a goal does not hold. */
const SECTIONS: Readonly<Record<string, () => Promise<{ readonly measure: () => BenchRow[] | Promise<BenchRow[]> }>>> =
  {
    batch: () => import("./batch.ts"),
    read: () => import("./read.ts"),
    list: async () => (await import("./list.ts")).list,
    agents: async () => (await import("./list.ts")).agents,
    changes: () => import("./changes.ts"),
    cold: () => import("./cold.ts"),
    cost: () => import("./cost.ts"),
    uploads: () => import("./uploads.ts"),
    undo: async () => (await import("./uploads.ts")).undo,
    stack: () => import("./stack.ts"),
    scale: () => import("./scale.ts"),
    latencies: () => import("./latencies.ts"),
    pages: () => import("./pages.ts"),
    load: () => import("./load.ts"),
    split: () => import("./split.ts"),
  };

const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: "boolean" } } });
/** They fetch a program and need a browser, need two cores of their own, or take many minutes. */
const ONLY_BY_NAME = ["pages", "load", "split"];
const names =
  positionals.length > 0 ? positionals : Object.keys(SECTIONS).filter((name) => !ONLY_BY_NAME.includes(name));

const unknown = names.filter((name) => !Object.hasOwn(SECTIONS, name));
if (unknown.length > 0) {
  console.error(`there is no section ${unknown.join(", ")}: sections are ${Object.keys(SECTIONS).join(", ")}`);
  process.exit(2);
}

const rows: BenchRow[] = [];
for (const name of names) {
  const { measure } = await SECTIONS[name]!();
  rows.push(...(await measure()));
}

const formatted = (value: number | null): string =>
  value === null ? "" : value.toLocaleString("en", { maximumFractionDigits: 2 });
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
