import { createServiceApp } from "../../service-app.ts";
import { stackIdOf, regionCodes, REGIONS } from "../../../lib/regions.ts";
import { createCommandLine } from "../../command-line.ts";
import { type Cost, costsOf, resourcesOf } from "../../costs.ts";
import { operationRows } from "../../operation-costs.ts";
import { runAsProgram, type Terminal } from "../../terminal.ts";
import { runOperatorCommand } from "./administration.ts";

/** The costs at rest of each region of a stage. */
function costsOfStage(stage: string): Readonly<Record<string, readonly Cost[]>> {
  const { node } = createServiceApp({ context: { stage } });
  return Object.fromEntries(
    regionCodes.flatMap((code) => {
      const stack = node.tryFindChild(stackIdOf(code));
      return stack === undefined ? [] : [[REGIONS[code].awsRegion, costsOf(resourcesOf(stack))]];
    }),
  );
}

/** A table in Markdown. @param rows the first is the header */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [header = [], ...body] = rows;
  const widths = header.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  return [line(header), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n");
}

/** A table of costs with their sum. */
export function tableOf(costs: readonly Cost[]): string {
  const sum = costs.reduce((total, { dollars }) => total + dollars, 0);
  const rows = [...costs, { name: "all", count: "", dollars: sum }];
  return markdownTable([
    ["at rest, a month", "count", "dollars"],
    ...rows.map(({ name, count, dollars }) => [name, String(count), dollars.toFixed(2)]),
  ]);
}

/** `npm run costs`. @returns the exit status */
function costsCommand(terminal: Terminal): Promise<number> {
  const program = createCommandLine(
    terminal,
    "npm run costs --",
    "What an idle stage costs, computed from its template, and what a million items cost",
  );
  program.option("--stage <stage>", "the stage (default: dev)").action(({ stage = "dev" }: { stage?: string }) => {
    for (const [region, costs] of Object.entries(costsOfStage(stage)))
      terminal.printLines(`${region}, ${stage}\n\n${tableOf(costs)}\n`);
    terminal.printLines(markdownTable(operationRows()));
  });
  return runOperatorCommand(terminal, program);
}

if (import.meta.main) await runAsProgram(costsCommand);
