import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { WorkItem } from "../../../../apps/client/client.ts";
import { startTestService, type TestService } from "../../../support/local-service.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { makeWorkbook } from "../../../support/workbook.ts";
import { run, runAt } from "./terminal.ts";

const folder = temporaryDirectory(afterAll);
const home = process.cwd();
let stack: TestService;

beforeAll(async () => {
  process.chdir(folder);
  stack = await startTestService();
  vi.stubEnv("WORK_ITEMS_URL", stack.baseUrl);
  vi.stubEnv("WORK_ITEMS_KEY", stack.apiKey);
});
afterAll(async () => {
  process.chdir(home);
  vi.unstubAllEnvs();
  await stack?.stop();
});

const typeOf = async (id: string): Promise<string | undefined> => {
  const { out, exit } = await run("get", id);
  return exit === 0 ? (JSON.parse(out) as WorkItem).type : undefined;
};

describe("before an import the command", () => {
  it("says which IDs repeat, and imports only if it is told to", async () => {
    writeFileSync("repeated.csv", "external_id,type\nR-1,a\nR-2,a\n\nR-1,b\nR-1,c\n");
    const stopped = await run("import", "repeated.csv", "--wait");
    expect(stopped).toMatchObject({ exit: 4, out: expect.stringContaining("(dry run): 4 rows, 2 created") });
    expect(stopped.told.split("\n")).toEqual([
      "2 rows repeat the ID of an earlier row, and the later row wins; the first IDs:",
      "row 5: R-1, first in row 2",
      "trial of 4 rows: would create 2, change 2, restore 0, leave 0 unchanged, reject 0",
      "status: pending (4); not in this file",
      "type: a (2), b (1), c (1)",
      "agent: not in this file",
      "completed_at: not in this file",
      "would change: type in 2 rows",
      "row 2 would create R-1: type a, status pending",
      "row 3 would create R-2: type a, status pending",
      "row 5 would change R-1: type a -> b",
      "row 6 would change R-1: type b -> c",
      "nothing was imported; --yes imports without asking",
      "",
    ]);
    expect(await typeOf("R-1")).toBeUndefined();
    const agreed = await run("import", "repeated.csv", "--wait", "--yes");
    expect(agreed).toMatchObject({ exit: 0, out: expect.stringContaining("completed: 4 rows, 2 created, 2 updated") });
    expect(agreed.told).toContain("row 5: R-1, first in row 2\ntrial of 4 rows: would create 2, change 2,");
    expect(await typeOf("R-1")).toBe("c");
  });

  it("names new IDs that look like those of items that exist, and asks", async () => {
    writeFileSync("usual.csv", "external_id\nLOOK-1\nLÖÖK-2\n");
    expect(await run("import", "usual.csv", "--wait")).toMatchObject({ exit: 0 });
    writeFileSync("other.csv", `external_id\nLOOK\u20111\n${"LÖÖK-2".normalize("NFD")}\nLOOK-3\n`);
    const stopped = await run("import", "other.csv", "--wait");
    expect(stopped).toMatchObject({ exit: 4, out: expect.stringContaining("3 created") });
    expect(stopped.told).toContain(
      'row 2: "LOOK\u20111" would be new, but "LOOK-1" exists and looks the same\n' +
        `row 3: "${"LÖÖK-2".normalize("NFD")}" would be new, but "LÖÖK-2" exists and looks the same\nnothing`,
    );
    expect(await run("import", "other.csv", "--wait", "--yes")).toMatchObject({ exit: 0 });
  });

  it("says what it can't show of a trial, and imports nevertheless", async () => {
    writeFileSync("unseen.csv", "external_id,type\nUNSÉEN-1,a\n");
    expect(await run("import", "unseen.csv", "--wait")).toMatchObject({ exit: 0 });
    writeFileSync("unseen.csv", "external_id,type\nUNSÉEN-1,b\nUNSÉEN-2,b\n");
    const { fetch } = globalThis;
    const refused = (): Response => Response.json({ error: "no" }, { status: 403 });
    vi.stubGlobal("fetch", async (...[asked, init]: Parameters<typeof fetch>) =>
      asked instanceof Request && asked.url.endsWith("/batch_get") ? refused() : fetch(asked, init),
    );
    onTestFinished(() => void vi.unstubAllGlobals());
    const { exit, told } = await run("import", "unseen.csv", "--wait", "--yes");
    expect(exit).toBe(0);
    expect(told).toMatch(/^no examples: no\b.*\nnew IDs weren't compared: no\b/m);
  });

  it("says what items would change, and imports what changes none without a question", async () => {
    writeFileSync("first.csv", "external_id;type\nC-1;a\nC-2;a\n");
    const first = await run("import", "first.csv", "--wait");
    expect(first).toMatchObject({ exit: 0, out: expect.stringContaining("completed: 2 rows, 2 created") });
    expect(first.told).toContain("no ID repeats\ntrial of 2 rows: would create 2, change 0,");
    expect(await run("import", "first.csv", "--wait")).toMatchObject({ exit: 0 });

    writeFileSync("second.csv", "external_id;type\nC-2;b\nC-3;b\n");
    const second = await run("import", "second.csv", "--json");
    expect(second).toMatchObject({ exit: 4, told: expect.stringContaining("would create 1, change 1,") });
    expect(JSON.parse(second.out)).toMatchObject({ dry_run: true, created_rows: 1, updated_rows: 1 });
    expect([await typeOf("C-2"), await typeOf("C-3")]).toEqual(["a", undefined]);
    const without = await run("import", "second.csv", "--wait", "--no-trial");
    expect(without).toMatchObject({ exit: 0, told: expect.not.stringContaining("trial") });
    expect([await typeOf("C-2"), await typeOf("C-3")]).toEqual(["b", "b"]);

    // A deleted item would come back.
    await run("delete", "C-3");
    expect(await run("import", "second.csv")).toMatchObject({ exit: 4, told: expect.stringContaining("restore 1") });
    expect(await typeOf("C-3")).toBeUndefined();
  });

  it("shows the values of the whole file, what contradicts, and what rows would do, but not to a program", async () => {
    const header = "external_id;type;status;agent_name;completed_at;custom_attributes.note";
    const rows = [
      "V-1;call;completed;Ann;2024-03-04T10:00:00Z;x",
      "V-2;call;completed;Ann;;y",
      "V-3;;pending;;2023-11-04T10:00:00Z;z",
    ];
    writeFileSync("values.csv", [header, ...rows].join("\n"));
    const first = await run("import", "values.csv", "--wait");
    expect(first.exit).toBe(0);
    expect(first.told).toContain(
      [
        "trial of 3 rows: would create 3, change 0, restore 0, leave 0 unchanged, reject 0",
        "status: completed (2), pending (1)",
        "type: call (2), work_item (1); empty in 1 row",
        "agent: Ann (2); empty in 1 row",
        "completed_at: 2023-11-04T10:00:00.000Z to 2024-03-04T10:00:00.000Z; empty in 1 row",
        "please check: 1 row is completed without a completion date",
        "please check: 1 row has a completion date but isn't completed: pending (1)",
        "row 2 would create V-1: agent_name Ann, type call, status completed, completed_at 2024-03-04T10:00:00.000Z, custom_attributes.note x",
        "row 3 would create V-2: agent_name Ann, type call, status completed, custom_attributes.note y",
        "row 4 would create V-3: type work_item, status pending, completed_at 2023-11-04T10:00:00.000Z, custom_attributes.note z",
        "",
      ].join("\n"),
    );
    // Values above 200 bytes aren't in the results: they are those of the item and the row.
    const long = "l".repeat(300);
    const changed = ["V-1;call;completed;Ben;2024-03-04T10:00:00Z;x", `V-2;chat;;;;${long}`, "V-9;;lost;;;"];
    writeFileSync("values.csv", [header, ...changed].join("\n"));
    const second = await run("import", "values.csv", "--dry-run", "--wait");
    expect(second).toMatchObject({ exit: 3, out: expect.stringContaining("(dry run): 3 rows, 0 created, 2 updated") });
    expect(second.told).toContain(
      [
        "would change: agent_name in 1 row, custom_attributes in 1 row, type in 1 row",
        "row 2 would change V-1: agent_name Ann -> Ben",
        `row 3 would change V-2: type call -> chat, custom_attributes.note y -> ${"l".repeat(60)}…`,
        "row 4 would be rejected: status: must be one of pending, in_progress, completed, cancelled (column status)",
        "",
      ].join("\n"),
    );
    const { told } = await run("import", "values.csv", "--dry-run", "--wait", "--json");
    expect(told).not.toMatch(/status:|would/);
  });

  it("says after a trial of dates that a proposal can't read that items are completed without one", async () => {
    writeFileSync("days.csv", "Ticket #,State,Closed On\nD1,done,46000.5\nD2,done,46001.25\nD3,open,\n");
    const proposed = await run("import", "days.csv", "--propose", "days.json");
    expect(proposed.told).toContain('certain: "Ticket #" as external_id');
    const { told } = await run("import", "days.csv", "--mapping", "days.json", "--dry-run", "--wait");
    expect(told).toContain("please check: 2 rows are completed without a completion date");
  });

  it.each([
    ["y\n", 0, "b"],
    ["\n", 4, "a"],
  ] as const)("asks the person at the terminal, who answers %j", async (answer, exit, type) => {
    const id = `Q-${exit}`;
    for (const [file, each] of Object.entries({ "a.csv": "a", "b.csv": "b" })) {
      writeFileSync(file, `external_id,type\n${id},${each}\n`);
    }
    await run("import", "a.csv", "--wait");
    const asked = await runAt(["stdin", "stderr"], answer, "import", "b.csv", "--wait");
    expect(asked).toMatchObject({ exit, told: expect.stringContaining("Import the file? [y/N] ") });
    expect(await typeOf(id)).toBe(type);
  });

  it("takes rows that are events for what they are, and the mapping of an earlier upload", async () => {
    writeFileSync("log.csv", "nr,step,at\nE-1,1,2026-01-01T00:00:00Z\nE-1,2,2026-01-02T00:00:00Z\n");
    const event = { external_id: { column: "step" }, content: { column: "step" }, occurred_at: { column: "at" } };
    writeFileSync("log.json", JSON.stringify({ fields: { external_id: { column: "nr" } }, event, others: "ignore" }));
    const log = await run("import", "log.csv", "--mapping", "log.json", "--wait", "--yes", "--json");
    expect(log).toMatchObject({ exit: 0, told: expect.not.stringContaining("repeat") });
    writeFileSync("mapped.json", JSON.stringify({ fields: { external_id: { column: "nr" } }, others: "ignore" }));
    const { out } = await run("import", "log.csv", "--mapping", "mapped.json", "--dry-run", "--json");
    writeFileSync("from.json", JSON.stringify({ from: (JSON.parse(out) as { id: string }).id }));
    expect((await run("import", "log.csv", "--mapping", "from.json", "--dry-run")).told).toContain(
      "1 row repeats the ID of an earlier row, and the later row wins:\nrow 3: E-1, first in row 2\n",
    );
    writeFileSync("sums.csv", "nr,step,at\n1,1,\nTotal,1,\n");
    const sums = await run("import", "sums.csv", "--mapping", "from.json", "--without-totals", "--dry-run");
    expect(sums.told).toContain("left out: row 3 (Total, 1)");
  });

  it("says which columns have empty cells once items would change, until the mapping says what such cells do", async () => {
    const fields = {
      external_id: { column: "ID" },
      type: { value: "ticket" },
      agent_name: { column: "Owner", values: { unassigned: "" } },
      completed_at: { first_of: [{ column: "Closed" }, { column: "Solved" }] },
    };
    const write = (blank: object): void =>
      writeFileSync("empty.json", JSON.stringify({ fields, others: "custom_attributes", empty: ["-"], ...blank }));
    write({});
    const header = "ID,Owner,Closed,Solved,Team";
    writeFileSync("full.csv", `${header}\nM-1,Ann,2026-01-01T00:00:00Z,,red\nM-2,Bob,,,red\n`);
    const first = await run("import", "full.csv", "--mapping", "empty.json", "--wait", "--yes");
    expect(first).toMatchObject({ exit: 0, told: expect.not.stringContaining("empty cells") });

    const rows = "M-1,Unassigned,,,blue\nM-2,,-,,red\nM-3,Cid,2026-01-02T00:00:00Z,,\n";
    writeFileSync("later.csv", `${header}\n${rows}`);
    const said =
      "1 row would update items, and these columns have empty cells: Owner (2), Closed or Solved (at most 2), Team (1);";
    const stopped = await run("import", "later.csv", "--mapping", "empty.json", "--wait");
    expect(stopped).toMatchObject({ exit: 4, told: expect.stringContaining(said) });
    const dry = await run("import", "later.csv", "--mapping", "empty.json", "--dry-run", "--wait");
    expect(dry.told).toContain(said);
    write({ blank: "keep" });
    const kept = await run("import", "later.csv", "--mapping", "empty.json", "--dry-run", "--wait");
    expect(kept).toMatchObject({ exit: 0, told: expect.not.stringContaining("empty cells") });

    write({ blank: "clear" });
    const cleared = await run("import", "later.csv", "--mapping", "empty.json", "--wait", "--yes");
    expect(cleared).toMatchObject({ exit: 0, told: expect.not.stringContaining("empty cells") });
    const item = JSON.parse((await run("get", "M-1")).out) as WorkItem;
    expect(item).toMatchObject({ completed_at: null, custom_attributes: { Team: "blue" } });
    expect(item.agent?.name ?? null).toBeNull();

    write({ fields: { ...fields, status: { column: "State" } } });
    writeFileSync("open.csv", `${header},State\nM-3,Cid,,,,in_progress\n`);
    const undecided = await run("import", "open.csv", "--mapping", "empty.json", "--yes", "--wait");
    expect(undecided).toMatchObject({
      exit: 4,
      told: expect.stringContaining("1 row would reopen completed items, which keep their completion dates"),
    });
  });

  it("names what removes the spaces around IDs, until the mapping does it", async () => {
    writeFileSync("spaced.csv", "Ticket ID,Status\nS-1,Open\n S-2,Open\nS-2,Open\n");
    const advice =
      '"trim": true beside the column of external_id in the mapping removes the spaces around the ID of 1 row';
    await run("import", "spaced.csv", "--propose", "spaced.json");
    const tried = await run("import", "spaced.csv", "--mapping", "spaced.json", "--dry-run");
    expect(tried.told).toContain(`row 3: " S-2" has spaces around it\n${advice}\nno ID repeats\n`);
    const mapping = JSON.parse(readFileSync("spaced.json", "utf8")) as { fields: { external_id: object } };
    Object.assign(mapping.fields.external_id, { trim: true });
    writeFileSync("spaced.json", JSON.stringify(mapping));
    const trimmed = await run("import", "spaced.csv", "--mapping", "spaced.json", "--dry-run", "--wait");
    expect(trimmed.told).toContain("row 4: S-2, first in row 3\n");
    expect(trimmed).toMatchObject({
      told: expect.not.stringContaining("trim"),
      out: expect.stringContaining("2 created"),
    });
  });

  it("imports IDs without what a program put around all of them, and says so", async () => {
    writeFileSync("wrapped.csv", "Ticket ID,Status\n'0012,Open\n'0013,Open\n");
    const said = `all values of "Ticket ID" have an apostrophe, which isn't imported: '0012 becomes 0012\n`;
    const proposed = await run("import", "wrapped.csv", "--propose", "wrapped.json");
    expect(proposed.told).toContain(`${said}certain: "Ticket ID" as external_id`);
    const imported = await run("import", "wrapped.csv", "--mapping", "wrapped.json", "--yes", "--wait");
    expect(imported).toMatchObject({ told: expect.stringContaining(said), out: expect.stringContaining("2 created") });
    expect(JSON.parse((await run("get", "0013")).out)).toMatchObject({ external_id: "0013" });
    // As events of their items, rows repeat IDs.
    const mapping = JSON.parse(readFileSync("wrapped.json", "utf8")) as object;
    const event = { external_id: { value: "e" } };
    writeFileSync("wrapped.json", JSON.stringify({ ...mapping, event }));
    const again = await run("import", "wrapped.csv", "--mapping", "wrapped.json", "--yes", "--wait");
    expect(again.out).toContain("0 created, 2 updated");
  });

  it("names columns of groups, and fills them down in all rows but totals if it is asked to", async () => {
    const rows = 'Bob,G-1,Closed\n,G-2,Closed\nSubtotal,2,\n"Lee, Ann",G-3,Closed\n,G-4,Closed\n';
    writeFileSync("grouped.csv", `Case Owner,Case Number,Status\n${rows}`);
    const offer = '"Case Owner" has a value only in the first row of each group; fill it down with --fill "Case Owner"';
    const proposed = await run("import", "grouped.csv", "--propose", "grouped.json");
    expect(proposed.told).toContain(`${offer}\n`);
    const imported = (...options: readonly string[]) =>
      run("import", "grouped.csv", "--mapping", "grouped.json", "--without-totals", "--wait", "--yes", ...options);
    expect((await imported("--dry-run")).told).toContain(`${offer}\n`);
    expect(await imported("--fill", "Owner")).toMatchObject({
      exit: 1,
      told: expect.stringContaining('--fill: there is no column "Owner"; the nearest is "Case Owner"'),
    });
    const filled = await imported("--fill", "case owner");
    expect(filled).toMatchObject({
      exit: 0,
      told: expect.not.stringContaining("--fill"),
      out: expect.stringContaining("4 rows, 4 created"),
    });
    const owners = await Promise.all(
      ["G-2", "G-4"].map(async (id) => (JSON.parse((await run("get", id)).out) as WorkItem).agent?.name),
    );
    expect(owners).toEqual(["Bob", "Lee, Ann"]);
    const without = await imported("--no-trial", "--fill", "Case Owner");
    expect(without).toMatchObject({ exit: 0, out: expect.stringContaining("4 unchanged") });
  });

  it("says that a sheet hides rows, and leaves them out if it is asked to", async () => {
    const rows = [
      ["external_id", "type"],
      ["H-1", "a"],
      ["H-2", "a"],
      ["H-3", "a"],
    ];
    writeFileSync("hidden.xlsx", makeWorkbook({ Sheet: rows }, { hidden: [3] }));
    const all = await run("import", "hidden.xlsx", "--dry-run", "--wait");
    expect(all).toMatchObject({
      out: expect.stringContaining("3 rows, 3 created"),
      told: expect.stringContaining(
        "1 row is hidden in the workbook, but imported; --without-hidden leaves out hidden rows\n",
      ),
    });
    const shown = await run("import", "hidden.xlsx", "--without-hidden", "--wait", "--results", "hidden.csv");
    expect(shown.told).toContain("1 row is hidden in the workbook, and left out\n");
    expect(readFileSync("hidden.csv", "utf8")).toMatch(/\n2,H-1,[^\n]*\n4,H-3,/);
    writeFileSync("shown.csv", "external_id,type\n");
    expect(await run("import", "shown.csv", "--without-hidden")).toMatchObject({
      exit: 2,
      told: expect.stringContaining("--without-hidden only works with workbooks, and shown.csv isn't one"),
    });
  });
});

describe("the command says which fields a file doesn't have", () => {
  const NOTHING_FOUND = "not found: agent, status, completed_at, type, short_description";
  const cards = "Card ID,Members,Phase\nN-1,Ann Lee,x\nN-2,Bob Stone,x\n";

  it("and imports by a mapping that leaves them out only if it is told to", async () => {
    writeFileSync("cards.csv", cards);
    writeFileSync("cards.json", JSON.stringify({ fields: { external_id: { column: "Card ID" } }, others: "ignore" }));
    writeFileSync("earlier.csv", "of an earlier import");
    const stopped = await run("import", "cards.csv", "--mapping", "cards.json", "--wait", "--errors", "earlier.csv");
    expect(stopped).toMatchObject({ exit: 4, told: expect.stringContaining(`${NOTHING_FOUND}\n`) });
    expect(existsSync("earlier.csv")).toBe(false);
    await run("import", "cards.csv", "--mapping", "cards.json", "--errors", "./cards.csv");
    expect(readFileSync("cards.csv", "utf8")).toBe(cards);
    expect(stopped.told).toContain("nothing was imported; --yes imports without asking");
    expect(await typeOf("N-1")).toBeUndefined();
    const refused = await runAt(["stdin", "stderr"], "\n", "import", "cards.csv", "--mapping", "cards.json");
    expect(refused).toMatchObject({ exit: 4, told: expect.stringContaining("Import the file? [y/N] ") });
    const tried = await run("import", "cards.csv", "--mapping", "cards.json", "--dry-run");
    expect(tried).toMatchObject({ exit: 0, told: expect.stringContaining(NOTHING_FOUND) });
    const agreed = await run("import", "cards.csv", "--mapping", "cards.json", "--wait", "--yes");
    expect(agreed).toMatchObject({ exit: 0, told: expect.stringContaining(NOTHING_FOUND) });
    expect(await typeOf("N-1")).toBe("work_item");
  });

  it("and asks the person at the terminal for them, when it proposes a mapping", async () => {
    writeFileSync("cards.csv", cards);
    const scripted = await run("import", "cards.csv", "--propose", "cards.json");
    expect(scripted).toMatchObject({ exit: 0, told: expect.stringContaining(NOTHING_FOUND) });
    expect(scripted.told).not.toContain("number or name of a column");

    const answers = "members\nnowhere\n=done\n3\n\n=call\n\n";
    const asked = await runAt(["stdin", "stderr"], answers, "import", "cards.csv", "--propose", "asked.json");
    expect(asked).toMatchObject({ exit: 0, told: expect.stringContaining('  2  "Members": Ann Lee, Bob Stone\n') });
    expect(asked.told).toContain(
      "status: number or name of a column, or =value for all rows, or Enter for the default (pending)",
    );
    expect(asked.told).toContain("there is no column nowhere\n");
    expect(asked.told).toContain("not found: completed_at, short_description\n");
    expect(JSON.parse(readFileSync("asked.json", "utf8"))).toMatchObject({
      fields: {
        external_id: { column: "Card ID" },
        agent_name: { column: "Members" },
        status: { column: "Phase" },
        type: { value: "call" },
      },
    });
  });

  it("and asks which of two columns is meant", async () => {
    writeFileSync(
      "owners.csv",
      "Ticket ID,Agent,Agent email,Owner,Type\nO-1,Ann,ann@x.org,Rep 1,call\nO-2,Bob,bob@x.org,Rep 2,call\n",
    );
    const args = ["import", "owners.csv", "--propose", "owners.json"];
    const kept = await runAt(["stdin", "stderr"], "\n\n\n\n", ...args);
    expect(kept.told).toContain(
      'agent: by name, but "Agent" and "Agent email" may be meant\n  4  "Owner": Rep 1, Rep 2\n  2  "Agent": Ann, Bob\n',
    );
    expect(JSON.parse(readFileSync("owners.json", "utf8"))).toMatchObject({
      fields: { agent_name: { column: "Owner" } },
    });
    await runAt(["stdin", "stderr"], "9\n2\n\n\n\n", ...args);
    const { fields } = JSON.parse(readFileSync("owners.json", "utf8")) as { fields: object };
    expect(fields).toMatchObject({ agent_name: { column: "Agent" }, agent_email: { column: "Agent email" } });
  });
});

describe("at a terminal", () => {
  const ESC = "\u001b[31mT-1\u001b[0m\u0007\u009b2J\u202e";
  const SHOWN = String.raw`\u001b[31mT-1\u001b[0m\u0007\u009b2J\u202e`;
  // oxlint-disable-next-line no-control-regex -- they are looked for
  const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

  it("no command prints control characters of a file or of the service", async () => {
    const name = `esc\u001b]0;x\u0007.csv`;
    writeFileSync(name, `external_id;type;custom_attributes.${ESC}\n${ESC};a;${ESC}\n${ESC};b;${ESC}\n;c;${ESC}\n`);
    writeFileSync("esc.jsonl", `${JSON.stringify({ external_id: ESC, type: "z", [ESC]: 1 })}\n`);
    const calls: readonly (readonly string[])[] = [
      ["import", name, "--propose", "esc.json"],
      ["import", name],
      ["import", name, "--wait", "--yes"],
      ["import", name, "--sheet", ESC],
      ["import", `${ESC}.csv`],
      ["import", "esc.jsonl", "--mapping", `${ESC}.json`],
      ["batch", "esc.jsonl"],
      ["batch", "esc.jsonl", "--json"],
      ["get", ESC],
      ["get", `${ESC}x`],
      ["list"],
      ["list", "--json"],
      ["list", "--csv"],
      ["list", "--type", ESC],
      ["list", `--${ESC}`],
      ["export"],
      ["export", "--json"],
      ["export", "--since", ESC],
      ["changes"],
      ["changes", "--after", ESC],
      ["uploads"],
      ["uploads", "--json"],
      ["uploads", "show", ESC],
      ["uploads", ESC],
      [ESC],
      ["delete", ESC],
    ];
    let shown = 0;
    for (const call of calls) {
      const { out, told } = await runAt(["stdout"], "", ...call);
      expect({ call, printed: `${out}${told}`.match(CONTROLS)?.[0] }).toEqual({ call, printed: undefined });
      if (`${out}${told}`.includes(SHOWN)) shown += 1;
    }
    expect(shown).toBeGreaterThan(12);
  });

  it("a pipe gets data to the byte, and people's lines without control characters", async () => {
    const id = `P-${ESC}`;
    writeFileSync("pipe.jsonl", `${JSON.stringify({ external_id: id, type: "pipe" })}\n`);
    await run("batch", "pipe.jsonl");
    expect((await run("list", "--type", "pipe", "--csv")).out).toContain(`\n${id},`);
    const { out } = await run("list", "--type", "pipe", "--json");
    expect(out).toContain("\u009b2J\u202e");
    expect((JSON.parse(out) as WorkItem).external_id).toBe(id);
    const atOne = await runAt(["stdout"], "", "list", "--type", "pipe", "--json");
    expect((JSON.parse(atOne.out) as WorkItem).external_id).toBe(id);
    expect((await run("delete", id)).out).toBe(`P-${SHOWN} deleted\n`);
    expect(readFileSync("pipe.jsonl", "utf8")).toContain("P-");
  });
});
