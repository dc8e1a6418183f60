import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { openCsv } from "../../../../infra/cli/work-items/open-csv.ts";
import { run } from "./terminal.ts";

const folder = mkdtempSync(join(tmpdir(), "work-items-test-"));
const home = process.cwd();

beforeAll(() => {
  process.chdir(folder);
  // Nothing listens there: a file that were sent would be another error.
  vi.stubEnv("WORK_ITEMS_URL", "http://127.0.0.1:9");
  vi.stubEnv("WORK_ITEMS_KEY", "none");
});
afterAll(() => {
  process.chdir(home);
  rmSync(folder, { recursive: true });
  vi.unstubAllEnvs();
});

it("imports nothing by a mapping that no one has reviewed, and names what a proposal assumes", async () => {
  const header = "Ticket ID\tAssignee\tStatus\tResolved At";
  writeFileSync("guess.tsv", `${header}\nNN-1\tNan\tClosed\t2024-06-01 10:00:00\nNN-2\tAda\tOpen\t\n`);
  const { exit, out, told } = await run("import", "guess.tsv", "--wait");
  expect({ exit, out }).toEqual({ exit: 1, out: "" });
  expect(told).toMatch(/unknown column "Ticket ID", "Assignee", "Resolved At": write a mapping with --propose <file>/);
  const proposed = await run("import", "guess.tsv", "--propose", "guess.json");
  expect(proposed.told).toMatch(
    /assumed, please check: times of "Resolved At" without a UTC offset are in \S+ \(time_zone\)/,
  );
  expect(proposed.told).toContain('assumed, please check: in every column these values are empty: "nan"');
});

it("asks for an encoding that it can't tell, and names a guess", async () => {
  const japanese = Buffer.from([0x93, 0x63, 0x92, 0x86, 0x81, 0x45]);
  writeFileSync("sjis.csv", Buffer.concat([Buffer.from("external_id,agent_name\nSJ-1,"), japanese, Buffer.from("\n")]));
  expect(await run("import", "sjis.csv", "--wait")).toMatchObject({
    exit: 1,
    told: expect.stringContaining("can't tell the encoding of this file; name it, for example --encoding shift_jis"),
  });
  const file = await openCsv("sjis.csv", { encoding: "shift_jis", delimiter: undefined, sheet: undefined });
  expect(await file.blob.text()).toContain("SJ-1,田中");
  await file.close();
  writeFileSync("latin.csv", Buffer.from("Ticket ID;Name\nLA-1;Zo\u00eb\n", "latin1"));
  const { told } = await run("import", "latin.csv", "--propose", "latin.json");
  expect(told).toContain("latin.csv is read as windows-1252; if letters look wrong, name another with --encoding");
});
