import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
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

it("asks for an encoding that it can't tell, sends nothing, and shows how values would read", async () => {
  const good = "external_id,agent_name\nLA-1,Zo\u00eb\nLA-2,J\u00fcrgen\n";
  writeFileSync("latin.csv", Buffer.from(good, "latin1"));
  const { exit, out, told } = await run("import", "latin.csv", "--wait");
  expect({ exit, out }).toEqual({ exit: 1, out: "" });
  expect(told).toContain("latin.csv: row 2 isn't valid UTF-8. Add the encoding in which these values are right:\n");
  expect(told).toMatch(/ {2}--encoding windows-1252 +"Zo\u00eb", "J\u00fcrgen"\n/);
  expect(told).not.toContain("no service responds");
  expect(await run("import", "latin.csv", "--encoding", "windows-1252", "--propose", "latin.json")).toMatchObject({
    exit: 0,
    told: expect.stringContaining("latin.csv is read as windows-1252"),
  });
});

it("rejects a UTF-8 file with one bad byte, also where UTF-8 was named", async () => {
  const rows = Array.from({ length: 50 }, (_, index) => `Vorgang-M\u00fcller-${index},J\u00fcrgen Gro\u00df\n`).join(
    "",
  );
  const end = Buffer.concat([Buffer.from("Vorgang-50,J\u00fcrgen Gro"), Buffer.from([0xc3, 0x0a])]);
  writeFileSync("cut.csv", Buffer.concat([Buffer.from(`external_id,agent_name\n${rows}`), end]));
  const asked = await run("import", "cut.csv", "--wait");
  expect(asked).toMatchObject({ exit: 1, out: "", told: expect.not.stringContaining("no service responds") });
  expect(asked.told).toContain("cut.csv: row 52 isn't valid UTF-8, but most others are: fix the damaged row.");
  const named = await run("import", "cut.csv", "--encoding", "utf-8", "--wait");
  expect(named).toMatchObject({ exit: 1, out: "", told: expect.stringContaining("cut.csv: row 52 isn't valid UTF-8") });
});
