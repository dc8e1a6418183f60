import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type CsvFile, keep, openCsv } from "../../../../apps/cli/work-items/open-csv.ts";
import { changedFile, lookThrough } from "../../../../apps/cli/work-items/survey-file.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { testTerminal } from "../../../support/terminal.ts";
import { run, runAt } from "./terminal.ts";

/** The rows that are sent with `--without-totals`. */
const withoutTotals = async ({ blob }: CsvFile, mapping: Mapping): Promise<string | undefined> => {
  const { terminal } = testTerminal([]);
  const seen = await lookThrough(terminal, blob, mapping, { survey: true, values: false });
  const changed = await changedFile(terminal, blob, seen, { fill: [], leavesOutTotals: true });
  const text = await changed?.blob.text();
  await changed?.close();
  return text;
};

const folder = temporaryDirectory(afterAll);
const home = process.cwd();

beforeAll(() => {
  process.chdir(folder);
  // Nothing listens there: a file that were sent would be another error.
  vi.stubEnv("WORK_ITEMS_URL", "http://127.0.0.1:65534");
  vi.stubEnv("WORK_ITEMS_KEY", "none");
});
afterAll(() => {
  process.chdir(home);
  vi.unstubAllEnvs();
});

it("imports nothing by a mapping that no one has reviewed, names what it assumes, and asks for the time zone", async () => {
  const header = "Ticket ID\tAssignee\tStatus\tResolved At\tHours";
  writeFileSync("guess.tsv", `${header}\nNN-1\tNan\tClosed\t2024-06-01 10:00:00\t1,5\nNN-2\tAda \tOpen\t\t2\n`);
  const { exit, out, told } = await run("import", "guess.tsv", "--wait");
  expect({ exit, out }).toEqual({ exit: 1, out: "" });
  expect(told).toMatch(/unknown column "Ticket ID", "Assignee", .*"Hours": write a mapping with --propose <file>/);
  const proposed = await run("import", "guess.tsv", "--propose", "guess.json");
  expect(proposed.told).toContain('Which time zone are times of "Resolved At" in? Answer with --time-zone');
  expect([proposed.exit, existsSync("guess.json")]).toEqual([1, false]);
  const answers = "\n\nAtlantis\nBerlin\n";
  const asked = await runAt(["stdin", "stderr"], answers, "import", "guess.tsv", "--propose", "guess.json");
  expect(asked).toMatchObject({ exit: 0, told: expect.stringContaining('"Atlantis" isn\'t a time zone') });
  expect(JSON.parse(readFileSync("guess.json", "utf8"))).toMatchObject({
    fields: { completed_at: { column: "Resolved At", time_zone: "Europe/Berlin" } },
  });
  expect(proposed.told).toContain('assumed, please check: spaces around values are removed in "Assignee"\n');
  expect(proposed.told).toContain("assumed, please check: numbers have a decimal comma\n");
  // A person may be called so.
  expect(proposed.told).not.toContain("values are empty");
});

it("names a row that a missing quotation mark has joined with others", async () => {
  const rows = ['T-1,Closed,"Screen', "T-2,Closed,Mouse", 'T-3,Closed,12"', "T-4,Open,Printer", "T-5,Open,Printer"];
  writeFileSync("joined.csv", `Ticket ID,Status,Subject\n${rows.join("\n")}\n`);
  const doubt = "please check: a value in row 2 has lines that look like other rows, which wouldn't be imported";
  expect((await run("import", "joined.csv", "--propose", "joined.json")).told).toContain(doubt);
  // Then it fails to reach the service.
  expect((await run("import", "joined.csv", "--mapping", "joined.json")).told).toContain(doubt);
});

it("says that a file has no mapping", async () => {
  writeFileSync("ids.csv", "ID\n1\n");
  writeFileSync("text.json", '"ID"');
  expect(await run("import", "ids.csv", "--mapping", "text.json", "--delimiter", ",")).toMatchObject({
    exit: 1,
    told: "work-items: cannot read text.json: must be a JSON object\n",
  });
});

it("leaves no folder behind if a pipe breaks", async () => {
  const temporary = mkdtempSync(join(folder, "temporary-"));
  vi.stubEnv("TMPDIR", temporary);
  const broken = async function* () {
    yield "ID\n";
    throw new Error("broken");
  };
  await expect(keep(Readable.from(broken()))).rejects.toThrow("broken");
  expect(readdirSync(temporary)).toEqual([]);
  const { blob, close } = await keep(Readable.from(["ID\n1\n"]));
  expect([await blob.text(), readdirSync(temporary)]).toEqual(["ID\n1\n", [expect.stringMatching(/^work-items-/)]]);
  await close();
  expect(readdirSync(temporary)).toEqual([]);
});

it("proposes nothing for an empty file", async () => {
  writeFileSync("empty.csv", "\n\n");
  expect(await run("import", "empty.csv", "--propose", "empty.json")).toMatchObject({
    exit: 1,
    told: expect.stringContaining("the file is empty"),
  });
  expect(existsSync("empty.json")).toBe(false);
});

it("says where the header is if titles stand above it", async () => {
  writeFileSync("titled.csv", "Report June;;\n\nexternal_id;type;status\nTI-1;call;pending\nTI-2;call;pending\n");
  const { exit, out, told } = await run("import", "titled.csv", "--wait");
  expect({ exit, out }).toEqual({ exit: 1, out: "" });
  expect(told).toContain("the header is in row 3: write a mapping with --propose <file>");
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

it("asks for a delimiter that it can't tell, unless an option or the mapping says it", async () => {
  writeFileSync("bars.csv", "One|Two; three\n1|a; b\n2|c; d\n");
  const asked = await run("import", "bars.csv", "--propose", "bars.json");
  expect(asked).toMatchObject({ exit: 1, out: "" });
  expect(asked.told).toContain(
    "the columns may be separated by semicolons or vertical bars. Add the delimiter by which the header is right:\n" +
      '  --delimiter ";"  "One|Two" "three"\n  --delimiter "|"  "One" "Two; three"\n',
  );
  expect(await run("import", "bars.csv", "--propose", "bars.json", "--delimiter", "|")).toMatchObject({ exit: 0 });
  expect(JSON.parse(readFileSync("bars.json", "utf8"))).toMatchObject({ delimiter: "|" });
  writeFileSync("bars.json", JSON.stringify({ fields: { external_id: { column: "One" } }, delimiter: "|" }));
  expect((await run("import", "bars.csv", "--mapping", "bars.json")).told).toContain("no service responds");
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

it("writes no mapping while a date can be read in two ways, and says what answers it", async () => {
  writeFileSync("calls.csv", "Call ID,End time,Status\nu1,02/03/2024 9:10 AM,Closed\nu2,,Closed\n");
  const { exit, told } = await run("import", "calls.csv", "--propose", "calls.json");
  expect(exit).toBe(1);
  expect(told).toContain('Which date is "End time" 02/03/2024 9:10 AM: 2 Mar 2024 or 3 Feb 2024?');
  expect(told).toContain("Answer with --dates day-first or --dates month-first. Which time zone");
  expect(told).toMatch(/ Answer with --time-zone, such as --time-zone \S+\. No mapping was written\./);
  expect(existsSync("calls.json")).toBe(false);
  const answers = ["--dates", "month-first", "--time-zone", "America/New_York"];
  const answered = await run("import", "calls.csv", "--propose", "calls.json", ...answers);
  expect(answered.exit).toBe(0);
  expect(answered.told).not.toContain("assumed");
  expect(JSON.parse(readFileSync("calls.json", "utf8"))).toMatchObject({
    fields: { completed_at: { column: "End time", format: "MM/dd/yyyy h:mm a", time_zone: "America/New_York" } },
  });
  expect(await run("import", "calls.csv", "--propose", "calls.json", "--time-zone", "Mars")).toMatchObject({ exit: 2 });
  expect(await run("import", "calls.csv", "--propose", "calls.json", "--dates", "us")).toMatchObject({ exit: 2 });
});

it("joins a date and its time of day", async () => {
  writeFileSync(
    "apart.csv",
    "Call ID,Type,Agent,Subject,Status,Closed date,Closed time\nj1,a,Ann,x,Closed,13.02.2024,10:15\n",
  );
  await runAt(["stdin", "stderr"], "UTC\n", "import", "apart.csv", "--propose", "apart.json");
  expect(JSON.parse(readFileSync("apart.json", "utf8"))).toMatchObject({
    fields: { completed_at: { columns: ["Closed date", "Closed time"], format: "dd.MM.yyyy HH:mm", time_zone: "UTC" } },
  });
});

it("reads dates with a comma before the time", async () => {
  writeFileSync("report.csv", 'Case Number,Date/Time Closed\n00001,"1/25/2026, 1:45\u202fPM"\n');
  await run("import", "report.csv", "--propose", "report.json", "--time-zone", "UTC");
  expect(JSON.parse(readFileSync("report.json", "utf8"))).toMatchObject({
    fields: { completed_at: { column: "Date/Time Closed", format: "MM/dd/yyyy, h:mm a" } },
  });
});

it("names rows of totals, and leaves them out as blank lines", async () => {
  writeFileSync("sums.csv", "ID,Agent,Hours\n1,Ann,2\n2,Bob,3\n,,\nTotal,,5\n");
  const { told } = await run("import", "sums.csv", "--propose", "sums.json");
  expect(told).toContain(
    "looks like totals, notes or headers, not items: row 5 (Total, 5); an import leaves such rows out, unless it has --with-totals",
  );
  const mapped = (...options: readonly string[]) => run("import", "sums.csv", "--mapping", "sums.json", ...options);
  expect((await mapped("--with-totals")).told).toContain(
    "looks like totals, notes or headers, not items: row 5 (Total, 5)",
  );
  expect((await mapped("--dry-run")).told).toContain("left out: row 5 (Total, 5)");
  const file = await openCsv("sums.csv", { encoding: undefined, delimiter: undefined, sheet: undefined });
  const mapping = JSON.parse(readFileSync("sums.json", "utf8")) as Mapping;
  expect(await withoutTotals(file, mapping)).toBe("ID,Agent,Hours\n1,Ann,2\n2,Bob,3\n,,\n\n");
});

it("leaves out rows of totals below the header and by the delimiter that the mapping says", async () => {
  const rows = "Name;Team;Month\nAnn;Support;June\nID;Agent;Hours\n1;Ann;2\n2;Bob;3\n";
  writeFileSync("titled.csv", `${rows}Total;;5\n`);
  const file = await openCsv("titled.csv", { encoding: undefined, delimiter: ",", sheet: undefined });
  const mapping: Mapping = { fields: { external_id: { column: "ID" } }, header_row: 3, delimiter: ";" };
  expect(await withoutTotals(file, mapping)).toBe(`${rows}\n`);
});
