import { execFile as execFileWithCallback } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { commands } from "../../../../apps/cli/work-items/program.ts";
import { localFilesIn, writeEnvironmentFile } from "../../../../infra/terminal/environment-file.ts";
import type { UploadJob, WorkItem } from "../../../../apps/client/client.ts";
import { childEnvironment } from "../../../support/child-environment.ts";
import { endedDaysAgo, startTestService, type TestService } from "../../../support/local-service.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { run, runAt, TICKETS, WORKBOOK } from "./terminal.ts";

const execFile = promisify(execFileWithCallback);
const folder = temporaryDirectory(afterAll);
const home = process.cwd();
let service: TestService;

beforeAll(async () => {
  process.chdir(folder);
  const data = join(folder, "data");
  vi.stubEnv("DATA_DIR", data);
  for (const name of ["WORK_ITEMS_URL", "WORK_ITEMS_KEY", "BASE_URL", "API_KEY"]) vi.stubEnv(name, undefined);
  service = await startTestService();
  mkdirSync(data);
  writeEnvironmentFile(localFilesIn(data).service, { BASE_URL: service.baseUrl, API_KEY: service.apiKey });
  writeFileSync("tickets.csv", TICKETS);
  writeFileSync("tickets.xlsx", WORKBOOK);
  const items = [{ external_id: "J-1", custom_attributes: { n: 1 } }, { external_id: "J-2" }];
  writeFileSync("items.jsonl", items.map((item) => `${JSON.stringify(item)}\n`).join(""));
});
afterAll(async () => {
  process.chdir(home);
  vi.unstubAllEnvs();
  await service?.stop();
});

/** Gives each item of a proposed mapping the same type, since the tickets have no column with it. */
const withType = (path: string): void => {
  const mapping = JSON.parse(readFileSync(path, "utf8")) as { fields: object };
  writeFileSync(path, JSON.stringify({ ...mapping, fields: { ...mapping.fields, type: { value: "ticket" } } }));
};

describe("work-items", () => {
  it("imports another system's file by a mapping that it proposes", async () => {
    const proposed = await run("import", "tickets.csv", "--propose", "mapping.json", "--time-zone", "Europe/Berlin");
    expect(proposed).toMatchObject({ exit: 0, told: expect.stringContaining("\nnot found: type\n") });
    expect(JSON.parse(readFileSync("mapping.json", "utf8"))).toMatchObject({
      fields: { external_id: { column: "Ticket ID" }, completed_at: { column: "Closed", format: "dd.MM.yyyy" } },
      delimiter: ";",
    });
    withType("mapping.json");

    const tried = await run("import", "tickets.csv", "--mapping", "mapping.json", "--dry-run", "--wait");
    expect(tried).toMatchObject({ exit: 3, out: expect.stringContaining("(dry run): 3 rows, 2 created") });
    expect(await run("get", "T-1001")).toMatchObject({ exit: 1, told: "work-items: there is no work item T-1001\n" });

    const args = ["--mapping", "mapping.json", "--errors", "failed.csv", "--results", "results.csv", "--json"];
    const done = await run("import", "tickets.csv", ...args);
    expect(done.exit).toBe(3);
    const job = JSON.parse(done.out) as UploadJob;
    expect(job).toMatchObject({ status: "completed", created_rows: 2, failed_rows: 1, file_name: "tickets.csv" });
    const failed = readFileSync("failed.csv", "utf8");
    expect(failed).toContain('T-1003;nobody;Closed;31.02.2023;;5;"completed_at: ""31.02.2023"" doesn\'t match');
    expect(readFileSync("results.csv", "utf8")).toContain("\n2,T-1001,");

    const undo = await run("undo", job.id, "--dry-run", "--results", "undone.csv");
    expect(undo).toMatchObject({
      exit: 0,
      out: expect.stringContaining(
        "(dry run): 3 rows, 2 deleted, 0 undone, 0 partly undone, 0 kept, 1 unchanged, 0 failed",
      ),
    });
    expect(readFileSync("undone.csv", "utf8")).toMatch(/\n2,T-1001,[0-9a-f-]+,deleted,,\n/);
    expect(await run("get", "T-1001")).toMatchObject({ exit: 0 });

    // The failed rows can be corrected and imported again.
    writeFileSync("failed.csv", failed.replace("nobody", "ben@example.com").replace("31.02", "28.02"));
    const again = await run("import", "failed.csv", "--mapping", "mapping.json", "--wait");
    expect(again).toMatchObject({ exit: 0, out: expect.stringContaining("1 row, 1 created") });

    const item = await run("get", "T-1001");
    expect(JSON.parse(item.out)).toMatchObject({ agent: { email: "ada@example.com" }, status: "pending" });
    expect(await run("uploads", "show", job.id)).toMatchObject({ exit: 0, out: expect.stringContaining(job.id) });
    expect((await run("uploads")).out.split("\n")[0]).toMatch(/completed: 1 row,/);
    expect(await run("uploads", "cancel", job.id)).toMatchObject({ exit: 1, told: expect.stringMatching(/./) });
  });

  it.each([
    ["E", "utf-16le", (text: string): Buffer => Buffer.from(`\uFEFF${text}`, "utf16le"), []],
    ["G", "utf-16be", (text: string): Buffer => Buffer.from(`\uFEFF${text}`, "utf16le").swap16(), []],
    ["H", "windows-1252", (text: string): Buffer => Buffer.from(text, "latin1"), ["--encoding", "latin1"]],
    ["I", "CR alone", (text: string): Buffer => Buffer.from(text.replaceAll("\r\n", "\r")), []],
  ] as const)("reads a file of %s-… in %s", async (name, _, encode, named) => {
    writeFileSync("encoded.csv", encode(TICKETS.replaceAll("T-", `${name}-`)));
    await run("import", "encoded.csv", ...named, "--propose", "mapping.json", "--time-zone", "Europe/Berlin");
    const { out, exit } = await run(
      "import",
      "encoded.csv",
      ...named,
      "--mapping",
      "mapping.json",
      "--wait",
      "--no-trial",
    );
    expect({ exit, out }).toEqual({ exit: 3, out: expect.stringContaining("3 rows, 2 created") });
    const { out: item } = await run("get", `${name}-1002`);
    expect(JSON.parse(item)).toMatchObject({ short_description: "Café" });
  });

  it("says which rows an undo leaves with a completion date but not completed, except to a program", async () => {
    for (const [name, text] of Object.entries({
      open: "external_id\nO-1\nO-2\n",
      done: "external_id,status\nO-1,completed\nO-2,completed\n",
      dates: "external_id,completed_at\nO-1,2026-02-01T09:30:00Z\n",
    }))
      writeFileSync(`${name}.csv`, text);
    const importOf = (name: string) => run("import", `${name}.csv`, "--wait", "--no-trial", "--json");
    await importOf("open");
    const { id } = JSON.parse((await importOf("done")).out) as UploadJob;
    const clean = await run("undo", id, "--dry-run", "--wait");
    expect(clean).toMatchObject({ exit: 0, told: expect.not.stringContaining("please check") });
    await importOf("dates");
    const undo = await run("undo", id, "--dry-run", "--wait");
    expect(undo).toMatchObject({ exit: 0, out: expect.stringContaining("2 rows, 0 deleted, 2 undone") });
    expect(undo.told).toContain(
      "please check: after the undo, 1 row has a completion date but isn't completed: pending (1)\n",
    );
    const { told } = await run("undo", id, "--dry-run", "--wait", "--json");
    expect(told).not.toContain("please check");
  });

  it("imports a sheet of a workbook, with its dates", async () => {
    const june = ["--sheet", "june", "--propose", "sheet.json", "--time-zone", "Europe/Berlin"];
    const proposed = await run("import", "tickets.xlsx", ...june);
    expect(proposed).toMatchObject({ exit: 0, told: expect.stringContaining("the sheet June; others are Notes") });
    const mapping = JSON.parse(readFileSync("sheet.json", "utf8")) as { fields: Record<string, object> };
    // A mapping that was made for a file with semicolons is good for the workbook too.
    writeFileSync("sheet.json", JSON.stringify({ ...mapping, delimiter: ";" }));
    withType("sheet.json");
    const args = ["--sheet", "June", "--mapping", "sheet.json", "--errors", "failed-sheet.csv"];
    const done = await run("import", "tickets.xlsx", ...args);
    expect(done).toMatchObject({ exit: 3, out: expect.stringContaining("3 rows, 2 created") });
    expect(readFileSync("failed-sheet.csv", "utf8")).toContain("W-1003,nobody,Closed,31.02.2023,,5,");
    const { out } = await run("get", "W-1002");
    expect(JSON.parse(out)).toMatchObject({ completed_at: "2023-06-01T10:15:36.000Z", short_description: "Café" });
    expect(await run("import", "tickets.xlsx", "--sheet", "Jun")).toMatchObject({
      exit: 1,
      told: 'work-items: there is no sheet "Jun" with rows; the nearest is "June" of: Notes, June\n',
    });
    expect(await run("import", "tickets.csv", "--sheet", "June")).toMatchObject({
      exit: 2,
      told: expect.stringContaining("--sheet only works with workbooks, and tickets.csv isn't one"),
    });
  });

  it("applies a file of items, and reports the line of each that fails", async () => {
    const good = '{"external_id":"M-1","custom_attributes":{"n":12345678901234567890,"text":"Zo\u00eb\u2028"}}';
    const cut = Buffer.from('{"external_id":"Zo\u00eb"}\n', "latin1");
    writeFileSync("mixed.jsonl", Buffer.concat([Buffer.from(`${good}\n\nnope\n{"external_id":""}\n`), cut]));
    const mixed = await run("batch", "mixed.jsonl");
    expect(mixed).toMatchObject({ exit: 3, out: "1 created, 0 updated, 0 unchanged, 0 restored, 3 error\n" });
    expect(mixed.told.split("\n").toSorted()).toEqual([
      "",
      "line 3: not an item: write one JSON object on each line",
      "line 4: external_id: must not be empty",
      "line 5: isn't valid UTF-8",
    ]);
    const { out } = await run("get", "M-1");
    expect(out).toContain('"n": 12345678901234567890');
    expect(out).toContain("Zo\u00eb\u2028");
  });

  it("exports what it imports again unchanged", async () => {
    await run("batch", "items.jsonl");
    const { out, exit } = await run("export", "--type", "work_item");
    expect(exit).toBe(0);
    writeFileSync("exported.csv", out);
    const again = await run("import", "exported.csv", "--wait");
    expect(again).toMatchObject({ exit: 0, out: expect.stringMatching(/ 0 created, 0 updated, [1-9]\d* unchanged/) });
  });

  it("exports cells that a spreadsheet would run with an apostrophe, and imports them without it", async () => {
    const type = "formulas";
    const names = ["=cmd|' /C calc'!A0", "@SUM(A1)", "'=1", "'tis", "-5"];
    const items = names.map((name) => ({ external_id: name, type, agent_name: name, custom_attributes: { name } }));
    writeFileSync("formulas.jsonl", items.map((item) => `${JSON.stringify(item)}\n`).join(""));
    expect(await run("batch", "formulas.jsonl")).toMatchObject({ exit: 0 });

    const { out } = await run("export", "--type", type);
    const exported = out.split("\n").slice(1, -1);
    expect(exported.map((line) => line.slice(0, line.indexOf(","))).toSorted()).toEqual(
      ["'=cmd|' /C calc'!A0", "'@SUM(A1)", "''=1", "'tis", "-5"].toSorted(),
    );
    writeFileSync("formulas.csv", out);
    const again = await run("import", "formulas.csv", "--wait");
    expect(again).toMatchObject({ exit: 0, out: expect.stringContaining(" 0 created, 0 updated, 5 unchanged") });

    const json = (await run("export", "--type", type, "--json")).out.trim().split("\n");
    expect(json.map((line) => (JSON.parse(line) as { external_id: string }).external_id).toSorted()).toEqual(
      names.toSorted(),
    );
  });

  it("exports what changed since the last call, and the same again if that was interrupted", async () => {
    const idsIn = (out: string) =>
      out
        .trim()
        .split("\n")
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as WorkItem).external_id);
    /** Exports until the feed shows an item. */
    const exportUntil = async (externalId: string): Promise<string> => {
      const outputs: string[] = [];
      await expect
        .poll(async () => {
          outputs.push((await run("export", "--since", "feed.txt")).out);
          return outputs.join("");
        })
        .toContain(`"${externalId}"`);
      return outputs.join("");
    };
    await run("batch", "items.jsonl");
    const first = await run("export", "--since", "feed.txt");
    expect(first).toMatchObject({ exit: 0, told: "" });
    expect(idsIn(first.out)).toEqual(expect.arrayContaining(["J-1", "J-2"]));
    writeFileSync(
      "more.jsonl",
      String.raw`{"external_id":"J-2","custom_attributes":{"n":12345678901234567890,"\ud83d":"\\ud83d😀\ude00"}}
{"external_id":"J-3"}
`,
    );
    // Once a later change is exported, all earlier ones are.
    writeFileSync("later.jsonl", '{"external_id":"J-0"}\n');
    await run("batch", "later.jsonl");
    await exportUntil("J-0");
    const before = readFileSync("feed.txt", "utf8");
    await run("batch", "more.jsonl");
    const increment = await exportUntil("J-3");
    expect(idsIn(increment)).not.toContain("J-1");
    // Many databases reject half a surrogate pair.
    expect(increment).toContain(String.raw`"n":12345678901234567890,"�":"\\ud83d😀�"`);

    writeFileSync("feed.txt", before);
    const again = (await run("export", "--since", "feed.txt")).out;
    expect(idsIn(again).toSorted()).toEqual(["J-2", "J-3"]);
    expect((await run("changes", "--after", before.trim())).out).toBe(again);
    const since = (time: number) => run("changes", "--since", new Date(time).toISOString());
    expect(idsIn((await since(0)).out)).toEqual(expect.arrayContaining(["J-1", "J-2", "J-3"]));
    expect((await since(Date.now() + 120_000)).out).toBe("");
    expect(await run("changes", "--since", "2026-01-26T00:00:00Z", "--after", "now")).toMatchObject({ exit: 2 });

    writeFileSync("feed.txt", "1\n");
    const tooOld = await run("export", "--since", "feed.txt");
    expect(tooOld).toMatchObject({
      exit: 1,
      out: "",
      told: expect.stringContaining("delete feed.txt and export again"),
    });
    expect(await run("export", "--since", "feed.txt", "--type", "ticket")).toMatchObject({ exit: 2 });
  });

  it("lists a table with a header in a terminal, and JSON lines in a pipe", async () => {
    await run("batch", "items.jsonl");
    const piped = (await run("list", "--external-id", "J-1")).out;
    expect(JSON.parse(piped)).toMatchObject({ external_id: "J-1" });
    writeFileSync("agent.jsonl", '{"external_id":"J-1","agent_name":"Ada \\u001b[31m Okafor"}\n');
    await run("batch", "agent.jsonl");
    const shown = (await runAt(["stdout"], "", "list", "--type", "work_item")).out.split("\n");
    expect(shown[0]).toMatch(/^EXTERNAL ID {2,}STATUS {2,}TYPE {2,}AGENT {2,}COMPLETED$/);
    const row = shown.find((line) => line.startsWith("J-1")) ?? "";
    expect(row.indexOf("Ada \\u001b[31m Okafor")).toBe(shown[0]?.indexOf("AGENT"));
  });

  it("lists items with one of several values of a filter", async () => {
    writeFileSync(
      "filters.jsonl",
      ["a", "b", "c"].map((type) => `{"external_id":"F-${type}","type":"${type}"}`).join("\n"),
    );
    await run("batch", "filters.jsonl");
    const typesOf = async (...args: readonly string[]) => {
      const { out } = await run("list", ...args, "--json");
      return out
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as WorkItem).type)
        .toSorted();
    };
    expect(await typesOf("--type", "a", "c")).toEqual(["a", "c"]);
    expect(await typesOf("--type", "b", "--type", "c", "--limit", "5")).toEqual(["b", "c"]);
  });

  it("detects the delimiter of a file, and reads the standard input and pipes", async () => {
    const rows = (prefix: string): string => `external_id;agent_email;type\n${prefix}-1;ada@example.com;pipe\n`;
    writeFileSync("semicolons.csv", rows("S"));
    expect(await run("import", "semicolons.csv", "--wait")).toMatchObject({
      exit: 0,
      out: expect.stringContaining("1 row, 1 created"),
    });
    const program = "apps/cli/work-items-command.ts";
    const env = { ...childEnvironment(), DATA_DIR: join(folder, "data") };
    expect(await runAt([], rows("I"), "import", "-", "--wait")).toMatchObject({
      exit: 0,
      out: expect.stringContaining("1 row, 1 created"),
    });
    const script = `cat semicolons.csv | sed s/S-1/P-1/ | ${process.execPath} ${join(home, program)} import /dev/stdin --wait`;
    expect((await execFile("bash", ["-c", script], { env })).stdout).toContain("1 row, 1 created");
  });

  it("runs the examples of its help", async () => {
    await run("batch", "items.jsonl");
    await run("import", "tickets.csv", "--propose", "mapping.json", "--time-zone", "Europe/Berlin");
    withType("mapping.json");
    await run("import", "tickets.csv", "--mapping", "mapping.json", "--wait");
    const firstOf = async (list: string): Promise<string> =>
      /"id":"([^"]+)"/.exec((await run(list, "--json")).out)?.[1] ?? "";
    const upload = await firstOf("uploads");
    await endedDaysAgo(service, upload, 1);
    const sent = await run("import", "tickets.csv", "--mapping", "mapping.json", "--dry-run");
    expect(sent.out).toMatch(/^(\S+) pending \(dry run\): sent; work-items uploads show \1 shows what its rows do\n$/);
    for (const [name, { examples }] of Object.entries(commands)) {
      const { out } = await run(name, "--help");
      for (const example of examples) {
        expect(out).toContain(example);
        // It never ends by itself.
        if (name === "listen") continue;
        const id = name === "webhooks" ? await firstOf(name) : upload;
        const args = example
          .replace(/ > .*$/, "")
          .replace(/- (.*) < (\S+)$/, "$2 $1")
          .replace(/[0-9a-f-]{36}/, id)
          .split(" ");
        const { exit, told } = await run(...args);
        if (args.includes("--propose")) withType("mapping.json");
        // The last ticket has a date that is none.
        expect({ example, exit, told }).toMatchObject({ example, exit: example.includes("--mapping") ? 3 : 0 });
      }
    }
  });

  it("reports errors in one line, and the outcome by its exit code", async () => {
    writeFileSync("book.xlsx", Buffer.from("PK\u0003\u0004....[Content_Types].xml"));
    const told = async (...args: readonly string[]) => {
      const { exit, told: line } = await run(...args);
      return [exit, line.split("\n")[0]];
    };
    expect(await told("lst")).toEqual([2, "work-items: unknown command 'lst' (Did you mean list?)"]);
    expect(await told("import")).toEqual([2, "work-items: missing required argument 'file'"]);
    expect((await told("list", "--colour"))[0]).toBe(2);
    expect(await told("list", "--limit", "many")).toEqual([
      2,
      "work-items: --limit must be a whole number of at least 1",
    ]);
    expect(await told("import", "missing.csv")).toEqual([1, expect.stringContaining("cannot read missing.csv")]);
    expect(await told("import", "book.xlsx")).toEqual([
      1,
      "work-items: This workbook cannot be read. Save it as .xlsx or CSV.",
    ]);
    expect(await told("import", "tickets.csv", "--encoding", "latin-99")).toEqual([
      2,
      "work-items: unknown encoding latin-99; try utf-8, windows-1252, shift_jis or another name of the Encoding Standard",
    ]);
    vi.stubEnv("WORK_ITEMS_KEY", "wi_us_wrong");
    expect(await told("list")).toEqual([
      1,
      expect.stringMatching(/check that WORK_ITEMS_KEY is a key of this service/),
    ]);
    vi.stubEnv("WORK_ITEMS_URL", "http://127.0.0.1:1");
    expect(await told("batch", "items.jsonl", "--dry-run")).toEqual([
      1,
      expect.stringContaining("no service responds at http://127.0.0.1:1: "),
    ]);
    vi.stubEnv("WORK_ITEMS_KEY", "");
    vi.stubEnv("WORK_ITEMS_URL", undefined);
    vi.stubEnv("DATA_DIR", join(folder, "nothing"));
    expect(await told("list")).toEqual([
      1,
      "work-items: no service: set WORK_ITEMS_URL to its address and WORK_ITEMS_KEY to your API key",
    ]);
    vi.stubEnv("DATA_DIR", join(folder, "data"));
    vi.stubEnv("WORK_ITEMS_KEY", undefined);
    expect(await run("--version")).toEqual({ exit: 0, out: "1.0.0\n", told: "" });
  });

  it("prints and deletes several items, in the order of their names", async () => {
    const looksLikeAnId = "11111111-1111-4111-8111-111111111111";
    const names = ["several-1", "several-2", looksLikeAnId];
    const lines = names.map((external_id) => JSON.stringify({ external_id, custom_attributes: { n: 1 } }));
    writeFileSync("several.jsonl", lines.join("\n").replace('"n":1', '"n":12345678901234567890'));
    expect(await run("batch", "several.jsonl")).toMatchObject({ exit: 0 });
    const idsIn = (out: string) =>
      out
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as WorkItem).external_id);

    const some = await run("get", "several-2", "never", "several-1", looksLikeAnId);
    expect(some.exit).toBe(3);
    expect(idsIn(some.out)).toEqual(["several-2", "several-1"]);
    expect(some.out).toContain("12345678901234567890");
    expect(some.told).toBe(`there is no work item never\nthere is no work item ${looksLikeAnId}\n`);
    const all = await run("get", ...names, "--external-id");
    expect(all.exit).toBe(0);
    expect(idsIn(all.out)).toEqual(names);
    const one = await run("get", looksLikeAnId, "--external-id");
    expect(JSON.parse(one.out)).toMatchObject({ external_id: looksLikeAnId, events: [] });

    const { id } = JSON.parse(one.out) as WorkItem;
    const dry = await run("delete", "several-1", id, "--dry-run");
    expect(dry).toMatchObject({ exit: 0, out: `several-1 would be deleted\n${id} would be deleted\n` });
    const deleted = await run("delete", "several-1", id, "never");
    expect(deleted).toMatchObject({ exit: 3, out: `several-1 deleted\n${id} deleted\n` });
    expect(deleted.told).toBe("there is no work item never\n");
    expect((await run("delete", id)).out).toBe(`${id} was deleted before\n`);
  });
});
