import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { markdownTable, tableOf } from "../../infra/cli/operator/costs.ts";
import { PROJECT_ROOT } from "../../infra/build.ts";
import { costsOf } from "../../infra/costs.ts";
import { operationRows } from "../../infra/operation-costs.ts";
import { stages } from "../../infra/stages.ts";
import { synthesize } from "./synthesized.ts";

const operations = readFileSync(join(PROJECT_ROOT, "docs/operations.md"), "utf8");
const performance = readFileSync(join(PROJECT_ROOT, "docs/performance.md"), "utf8");
const cells = (table: string): string[][] => table.split("\n").map((row) => row.split("|").map((cell) => cell.trim()));
const withoutRule = (table: string): string[][] => cells(table).filter((_, index) => index !== 1);

test.each(["dev", "prod"])("what stage %s costs at rest is what operations.md says", (stage) => {
  const costs = costsOf(synthesize({ ...stages[stage], alarms: "none" }).us);
  const [, written = ""] = new RegExp(`Stage \`${stage}\`:\n\n((?:\\|.*\n)+)`).exec(operations) ?? [];
  expect(withoutRule(written.trim())).toEqual(withoutRule(tableOf(costs)));
});

test("what a million items cost in each region, the feed's units too, is what performance.md says", () => {
  const [written = ""] = /\| a million items .*\n(?:\|.*\n)+/.exec(performance) ?? [];
  expect(withoutRule(written.trim())).toEqual(withoutRule(markdownTable(operationRows())));
});

test("a firewall and a key of the account cost more, and one alarm as many metrics as it reads", () => {
  const dollarsOf = (settings: object): Record<string, number> =>
    Object.fromEntries(costsOf(synthesize(settings).us).map(({ name, dollars }) => [name, dollars]));
  const [plain, guarded] = [dollarsOf({}), dollarsOf({ firewall: true })];
  expect(guarded["firewall"]).toBe(5);
  expect(guarded["rules of the firewall"]).toBeGreaterThan(0);
  expect(plain["firewall"]).toBeUndefined();
  const alarms = Object.values(synthesize().us.Resources).filter(({ Type }) => Type === "AWS::CloudWatch::Alarm");
  expect(plain["metrics in alarms"]).toBeGreaterThan(alarms.length * 0.1);
});
