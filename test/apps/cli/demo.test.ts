import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { demoCommand } from "../../../apps/cli/demo/demo.ts";
import { runCommand } from "../../support/terminal.ts";

const directory = mkdtempSync(join(tmpdir(), "work-items-"));
afterAll(() => rmSync(directory, { recursive: true }));
writeFileSync(join(directory, "other.csv"), "Ticket,State\nT-1,Open\n");
const HEADER = [
  "number,incident_state,sys_mod_count,sys_updated_by,sys_updated_at,category,assigned_to,resolved_at,closed_at",
  "INC1,New,0,Updated by 21,29-02-2016 01:23,Category 55,?,?,?",
];
writeFileSync(join(directory, "log.csv"), `${HEADER.join("\n")}\n`);
writeFileSync(join(directory, "broken.csv"), `${HEADER.join("\n")}\n"INC2`);

it.each([
  ["no file, which means its own,", "", "no service responds at http://127.0.0.1:1: "],
  ["a file that is not there", "none.csv", `cannot read ${join(directory, "none.csv")}`],
  ["another CSV", "other.csv", 'there is no column "number"; the nearest is "'],
  ["a file that breaks off", "broken.csv", "row 3: "],
  ["a service that does not respond", "log.csv", "no service responds at http://127.0.0.1:1: "],
])("the demo ends with one line on %s", async (_, file, message) => {
  const { error, status } = await runCommand(demoCommand, file === "" ? [] : [join(directory, file)], {
    env: { BASE_URL: "http://127.0.0.1:1", API_KEY: "wi_us_none" },
  });
  expect({ status, error }).toEqual({ status: 1, error: expect.stringContaining(message) as string });
  expect(error.split("\n")).toHaveLength(1);
});
