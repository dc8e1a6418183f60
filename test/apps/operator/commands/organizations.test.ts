import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DeleteCommand, paginateScan, PutCommand } from "@aws-sdk/lib-dynamodb";
import { organizationsCommand } from "../../../../apps/operator/commands/organizations.ts";
import { createKey } from "../../../../apps/operator/data/key-management.ts";
import { workItemId } from "../../../../lib/identity.ts";
import { allItems } from "../../../../lib/store/all-items.ts";
import {
  listedKeyKey,
  listedOrganizationKey,
  organizationRecordKey,
} from "../../../../lib/organizations/access-store.ts";
import { readOrigin } from "../../../../lib/store/table-origin.ts";
import { itemKeyOf } from "../../../../lib/work-items/work-item-record.ts";
import {
  createCustomer,
  type Customer,
  fill,
  operatorOf,
  overwrite,
  tracesOf,
} from "../../../support/customer-data.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { runCommand } from "../../../support/terminal.ts";

let runtime: TestRuntime;
let acme: Customer;
const directory = temporaryDirectory(afterAll);
beforeAll(async () => {
  runtime = await createTestRuntime();
  acme = await createCustomer(runtime, "acme");
  await fill(runtime, acme);
  const stores = Object.entries(runtime.environment).filter(([name]) => /_(TABLE|BUCKET|QUEUE_URL)$/.test(name));
  const variables = { ...Object.fromEntries(stores), REGION_CODE: "us" };
  const lines = Object.entries({ ...variables, S3_FORCE_PATH_STYLE: "true" }).map(
    ([name, value]) => `${name}=${value}\n`,
  );
  await writeFile(join(directory, "stack.env"), lines.join(""));
});

const run = (command: string, input = "") =>
  runCommand(organizationsCommand, command.split(" "), { env: { ...process.env, DATA_DIR: directory }, input });
const items = async () => (await acme.send("listWorkItems")).body.data;

describe("npm run organizations", () => {
  it("lists all, shows one, and names the nearest where there is none", async () => {
    expect((await run("list")).out).toMatch(
      /^acme in us: 10000 requests a second, 20000 at once; its lists have \d+ shards/,
    );
    expect(JSON.parse((await run("show acme --json")).out)).toMatchObject({
      region: "us",
      organization: "acme",
      rate: 10_000,
    });
    const commands = ["show acne", "export acne", "import acne", "erase acne --yes"];
    for (const refused of await Promise.all(commands.map((command) => run(command)))) {
      expect(refused).toEqual({ status: 1, out: "", error: "there is no organization acne; did you mean acme?" });
    }
  });

  it("shows webhooks without what can be a secret, and names a damaged one", async () => {
    const filled = (await run("webhooks acme")).out;
    const url = "https://hooks.example.com/token-of-the-receiver";
    const { id } = (await acme.send("createWebhook", { body: { webhook: { url } } })).body.data;
    const added = new RegExp(
      `^${id}: active, hooks.example.com; no delivery yet; next attempt at \\S+; changes due up to \\d+\n$`,
    );
    expect((await run("webhooks acme")).out.slice(filled.length)).toMatch(added);
    const { out } = await run("webhooks acme --json");
    expect((JSON.parse(out) as object[]).at(-1)).toMatchObject({
      id,
      host: "hooks.example.com",
      changes_due: expect.any(Number),
      uploads_due: 0,
    });
    expect(out).not.toMatch(/token-of-the-receiver|whsec_/);
    await overwrite(runtime, "WEBHOOKS_TABLE", { pk: "WEBHOOK_STATE#acme", sk: id }, "attempts");
    expect(await run("webhooks acme")).toMatchObject({ status: 1, error: expect.stringContaining(id) });
    await acme.send("deleteWebhook", { params: { id } });
  });

  it("shows the positions of one change feed or of all, and makes readers start over", async () => {
    const shown = await run("changes acme");
    expect(shown).toMatchObject({ status: 0, error: "" });
    expect(shown.out).toMatch(/^acme: cursors from (\d{16}) to \1; no change yet\n$/);
    const reset = JSON.parse((await run("changes --all --resync --json")).out);
    expect(reset).toMatchObject({ organization: "acme", newest_at: expect.any(String) });
    expect(reset.oldest_position).toBe(reset.newest_position);
    expect(await run("changes")).toMatchObject({ status: 1, error: expect.stringContaining("give --all") });
    expect(await run("changes acne")).toMatchObject({
      status: 1,
      error: expect.stringContaining("did you mean acme?"),
    });
  });

  it("names what it can't read, does the rest, and ends with status 1", async () => {
    const name = /^can't read a record: organization ORGANIZATION#broken #ORGANIZATION: .*rate/;
    await run("set broken --create");
    await run("set whole --create");
    const { ACCESS_TABLE } = runtime.environment;
    const broken = organizationRecordKey("broken");
    await overwrite(runtime, "ACCESS_TABLE", broken, "rate");
    await overwrite(runtime, "ACCESS_TABLE", broken, "changes_from");
    const [list, changes] = await Promise.all([run("list"), run("changes --all --resync")]);
    expect(list).toMatchObject({ status: 1, error: expect.stringMatching(name) });
    expect(list.out).toMatch(/^acme in us.*\nwhole in us/s);
    expect(changes).toMatchObject({ status: 1, error: expect.stringMatching(/^broken: .*changes_from/) });
    expect(changes.out).toMatch(/^acme: cursors .*\nwhole: cursors from (\d+) to \1; newest change at/s);
    await runtime.dynamodb.send(new DeleteCommand({ TableName: ACCESS_TABLE, Key: broken }));
    await runtime.dynamodb.send(new DeleteCommand({ TableName: ACCESS_TABLE, Key: listedOrganizationKey("broken") }));

    const item = itemKeyOf("acme", "of another");
    await overwrite(runtime, "WORK_ITEMS_TABLE", item, "updated_at", 7);
    const exported = await run("export acme");
    expect(exported).toMatchObject({ status: 1, error: expect.stringContaining(`work item ${item.pk} #ITEM: `) });
    expect(exported.error).toContain(
      "2 work items, 1 event, 1 conversation upload, without 1 record that can't be read",
    );
    const imported = await run("import whole", exported.out);
    expect(imported).toMatchObject({ status: 0, out: expect.stringMatching(/^wrote 4 records/) });
    expect(imported.error).toBe("the export had left out 1 record it couldn't read");
    await overwrite(runtime, "WORK_ITEMS_TABLE", item, "updated_at", new Date().toISOString());
  });

  it("exports to the standard output what it imports from the standard input", async () => {
    const { out, error } = await run("export acme");
    expect(error).toMatch(/^3 work items, 1 event, 1 conversation upload; \d+ read units$/);
    expect(out.split("\n")).toHaveLength(8);
    expect((await run("import acme", out)).out).toBe("wrote 0 records; 5 already existed and are unchanged\n");
  });

  it("imports what it has exported, whatever ends lines elsewhere in its texts", async () => {
    const texts = ["\u2028", "\u2029", "\u0085", "\r", "\n", "\r\n", "\v\f", "\uFEFF", "👍"].map((end) => `a${end}b`);
    const odd = await createCustomer(runtime, "odd");
    const created = await odd.apply(
      ...texts.map((text, index) => ({
        external_id: `${index} ${text}`,
        custom_attributes: { [text]: text },
        events: [{ external_id: text, content: text }],
      })),
    );
    expect(created.body.data.summary.created).toBe(texts.length);
    const { out } = await run("export odd");
    const file = join(directory, "odd.ndjson");
    await writeFile(file, out);
    for (const imported of [await run("import odd --dry-run", out), await run(`import odd --dry-run --file ${file}`)]) {
      expect(imported.error).toBe("");
      expect(imported.out).toBe("would write 0 records; 18 already existed and are unchanged\n");
    }
    await createCustomer(runtime, "copy");
    await run("import copy", out);
    const linesOf = (text: string) => text.split("\n").slice(1).toSorted();
    expect(linesOf((await run("export copy")).out)).toEqual(linesOf(out));
    await rm(file);
    const notText = Buffer.concat([Buffer.from(out.slice(0, out.indexOf("\n") + 1)), Buffer.from([0xff, 0x0a])]);
    await writeFile(file, notText);
    expect(await run(`import odd --file ${file}`)).toMatchObject({ status: 1, error: "line 2: isn't valid UTF-8" });
    await rm(file);
  });

  it("exports to a file that only its owner can read, and says where a file is missing", async () => {
    const file = join(directory, "acme.ndjson");
    const counted = /3 work items, 1 event, 1 conversation upload; \d+ read units\n$/;
    expect((await run(`export acme --file ${file} --dry-run`)).out).toMatch(counted);
    await expect(readdir(directory)).resolves.toEqual(["stack.env"]);
    expect((await run(`export acme --file ${file}`)).out).toMatch(counted);
    await expect(readdir(directory)).resolves.toEqual(["acme.ndjson", "stack.env"]);
    expect((await readFile(file, "utf8")).split("\n").at(-2)).toContain('{"end"');
    const again = await run(`export acme --file ${file}`);
    expect(again).toMatchObject({ status: 1, error: expect.stringContaining("add --overwrite") as string });
    expect((await run(`export acme --file ${file} --overwrite`)).out).toMatch(counted);
    expect(await run(`import acme --dry-run --file ${file}`)).toMatchObject({
      error: "",
      out: "would write 0 records; 5 already existed and are unchanged\n",
    });
    expect((await run("import acme --file /nowhere")).error).toBe(
      "--file /nowhere: there is no such file or directory",
    );
    expect((await run("export acme --file /nowhere/acme.ndjson")).error).toBe(
      "--file /nowhere/acme.ndjson: there is no such file or directory",
    );
    for (const command of ["import", "export"]) {
      expect((await run(`${command} acme --file ${directory}`)).error).toBe(`--file: ${directory} is a directory`);
    }
  });

  it("erases only after the name was typed again", async () => {
    const dry = await run("erase acme --dry-run");
    expect(dry.out).toMatch(/^would erase 3 work items, 1 event, 1 upload job, .* read units\n$/);
    const refused = await Promise.all([
      run("erase acme", "acne\n"),
      run("erase acme --item kept", ""),
      run("erase acme --person ann@example.com", "yes\n"),
    ]);
    for (const { status, out, error } of refused) {
      expect({ status, out }).toEqual({ status: 1, out: "" });
      expect(error).toMatch(/Type acme to continue: .*nothing was erased$/s);
    }
    expect(await items()).toHaveLength(2);
  });

  it("exports from a restored table only once what was erased since is erased again in it", async () => {
    const { WORK_ITEMS_TABLE: restored } = (await createTestRuntime()).environment;
    await createCustomer(runtime, "restored");
    await runtime.dynamodb.send(
      new PutCommand({
        TableName: runtime.environment.AUDIT_TABLE,
        Item: {
          pk: "ERASURES#all",
          sk: "0",
          organization: "restored",
          item: "x",
          began_at: "2026-01-01T00:00:00.000Z",
        },
      }),
    );
    const own = runtime.environment.AUDIT_TABLE;
    const commands = ["export restored", "import restored", "reapply-erasures --restored-to 2026-01-01T00:00:00Z"];
    // It doesn't say where it comes from.
    const Key = { pk: "ORIGIN#table", sk: "#ORIGIN" };
    await runtime.dynamodb.send(new DeleteCommand({ TableName: restored, Key }));
    for (const command of commands) {
      const refused = await run(`${command} --items-table ${restored}`);
      expect(refused).toMatchObject({ status: 1, out: "" });
      expect(refused.error).toContain("name the table Audit of that region");
    }
    const named = await run(`export restored --items-table ${restored} --ledger ${own}`);
    expect(named.error).toContain(`reapply-erasures --items-table ${restored} --ledger ${own} --restored-to <time>`);
    const origin = { pk: "ORIGIN#table", sk: "#ORIGIN", region: "eu", at: "2025-12-31T23:55:00.000Z" };
    const comesFrom = (ledger: string) =>
      runtime.dynamodb.send(new PutCommand({ TableName: restored, Item: { ...origin, ledger } }));
    await comesFrom("of another");
    for (const command of commands) {
      for (const ledger of ["", ` --ledger ${own}`]) {
        const refused = await run(`${command} --items-table ${restored}${ledger}`);
        expect(refused).toMatchObject({ status: 1, out: "" });
        expect(refused.error).toContain(`${restored} comes from eu`);
        expect(refused.error).toContain("--ledger of another --ledger-region eu");
      }
    }
    await comesFrom(own);
    const refused = await run(`export restored --items-table ${restored}`);
    expect(refused).toMatchObject({ status: 1, out: "" });
    expect(refused.error).toContain(`reapply-erasures --items-table ${restored} --restored-to <time>`);
    expect((await run("export restored --ledger-region eu --items-table x")).error).toContain("name the --ledger too");
    const applied = await run(`reapply-erasures --items-table ${restored} --restored-to 2026-01-01T00:00:00Z`);
    expect(applied.out).toMatch(/^erased 0 records again, and emptied 0 items and events; .* read units?/);
    expect((await run(`export restored --items-table ${restored}`)).status).toBe(0);
    expect((await run("reapply-erasures --restored-to 2026-01-01T00:00:00Z")).error).toContain("--items-table");
    expect((await run(`reapply-erasures --items-table ${restored} --restored-to soon`)).error).toContain(
      "must be a time",
    );
  });

  it("keeps who carried out which command and how it ended, without what customers have sent", async () => {
    const { AUDIT_TABLE } = runtime.environment;
    const kept = async () =>
      (await allItems(paginateScan({ client: runtime.dynamodb }, { TableName: AUDIT_TABLE })))
        .filter(({ command, organization }) => command !== undefined && organization === "audited")
        .toSorted((a, b) => (String(a["sk"]) < String(b["sk"]) ? -1 : 1))
        .map(({ pk, by, command, options, outcome }) => ({ pk, by, command, options, outcome }));
    const month = `COMMANDS#${new Date().toISOString().slice(0, 7)}`;
    const by = `local:${userInfo().username}`;
    const audited = await createCustomer(runtime, "audited");
    await audited.apply({ external_id: "ann@example.com" });
    await run("set audited --create --rate 7");
    await run("show audited");
    await run("export audited --dry-run");
    for (const command of ["set audited --retention-days 30", "erase audited", "erase audited --item ann@example.com"])
      await run(command, "no\n");
    await run("export audited --file " + join(directory, "audited.ndjson"));
    await run("import audited --file missing.ndjson");
    await run("erase audited --item ann@example.com", "audited\n");
    const both = (command: string, options: object, outcome = "done") =>
      [undefined, outcome].map((each) => ({
        pk: month,
        by,
        command: `organizations ${command}`,
        options,
        outcome: each,
      }));
    expect(await kept()).toEqual([
      ...both("set", { create: true, rate: "7" }),
      ...both("export", {}),
      ...both("import", {}, "failed"),
      ...both("erase", { item: workItemId("audited", "ann@example.com") }),
    ]);
    expect(JSON.stringify(await kept())).not.toContain("example.com");
  });

  it("erases a person, and names what may still hold the address", async () => {
    const before = await readOrigin(runtime);
    const { out, error } = await run("erase acme --person ann@example.com", "acme\n");
    // A backup from now on says that it is later than the erasure.
    expect((await readOrigin(runtime))!.at > before!.at).toBe(true);
    expect(error).toMatch(/waiting until 20\S+Z: running calls and workers may still write, and the index may lag$/);
    expect(out).toContain("emptied the agent of 2 work items and the actor of 1 event;");
    expect(out).toMatch(/ {2}content \(1\): [-0-9a-f]{36}\n/);
    expect(out).toContain("large.csv");
    expect(out).toMatch(/what remains:\n {2}continuous backups .*: until 20\S+Z\n/);
    const [, files = ""] = /lists of their undos: until (\S+)\n/.exec(out) ?? [];
    expect(Date.parse(files)).toBeGreaterThan(Date.now() + (28 + 35) * 86_400_000);
    expect(out).toContain(`after ${files} only what people made or wrote by hand may still hold it\n`);
    expect((await items()).map(({ agent }) => agent.email)).toEqual(expect.not.arrayContaining(["ann@example.com"]));
  });

  it("goes on with what can be read of a damaged organization, and repairs the rest from what is given", async () => {
    const damaged =
      /^can't read a record: organization ORGANIZATION#torn #ORGANIZATION: .*listing_shards.*organizations -- repair$/;
    await run("set torn --create --rate 7 --burst 70");
    const { key_id: key } = (await createKey(operatorOf(runtime), "torn")).record;
    for (const attribute of ["listing_shards", "cursor_secret", "retention_days"]) {
      await overwrite(runtime, "ACCESS_TABLE", organizationRecordKey("torn"), attribute, { not: "readable" });
    }
    await overwrite(runtime, "ACCESS_TABLE", listedKeyKey({ organization: "torn", key_id: key }), "created_at", 7);

    const show = await run("show torn");
    expect(show).toMatchObject({ status: 1, error: expect.stringMatching(damaged) });
    expect(show.out).toBe("torn in us: 7 requests a second, 70 at once; its lists have unreadable shards\n");
    const set = await run("set torn --burst 9 --json");
    expect(set).toMatchObject({ status: 1, error: expect.stringMatching(damaged) });
    expect(JSON.parse(set.out)).toEqual({ region: "us", organization: "torn", rate: 7, burst: 9 });
    const dry = await run("erase torn --dry-run");
    expect(dry).toMatchObject({ status: 1, out: expect.stringMatching(/^would erase .* 1 key\b/) });
    expect(await run("export torn")).toMatchObject({ status: 1, out: "", error: expect.stringMatching(damaged) });

    for (const [options, error] of [
      ["", "can't be read: give --listing-shards and --retention-days"],
      [" --retention-days 0 --listing-shards 3 --rate 5", "can be read, and is changed with organizations set: --rate"],
      [" --retention-days 30 --listing-shards 3", expect.stringContaining("nothing was changed")],
    ] as const) {
      expect(await run(`repair torn${options}`)).toEqual({ status: 1, out: "", error });
    }
    const repairs = await Promise.all([3, 4].map((n) => run(`repair torn --retention-days 0 --listing-shards ${n}`)));
    const [done, ...others] = repairs.toSorted((a, b) => a.status - b.status);
    expect(done).toMatchObject({ status: 0, error: "" });
    expect(done!.out).toMatch(
      /^torn in us: 7 requests a second, 9 at once; its lists have [34] shards\nwritten again: listing_shards, cursor_secret, retention_days\ncursors .*/,
    );
    expect(others).toMatchObject([{ status: 1, out: "" }]);
    const shown = await run("show torn");
    expect(shown).toMatchObject({ status: 0, error: "" });
    expect(done!.out.startsWith(shown.out)).toBe(true);
    expect(await run("repair torn")).toMatchObject({ error: "all records of torn and its keys can be read" });
  });

  it("erases a damaged organization whole, and names what it couldn't read", async () => {
    const torn = await createCustomer(runtime, "torn-too");
    await fill(runtime, torn);
    for (const attribute of ["listing_shards", "cursor_secret", "files_until"]) {
      await overwrite(runtime, "ACCESS_TABLE", organizationRecordKey("torn-too"), attribute, 0.5);
    }
    const { status, out, error } = await run("erase torn-too --yes");
    expect(status).toBe(1);
    expect(error.match(/can't read a record: organization /g)).toHaveLength(1);
    expect(out).toMatch(/^torn-too in us is erased: 3 work items, 1 event,/);
    const ledger = /^(COMMANDS|ERASURES)#/;
    expect((await tracesOf(runtime, "torn-too")).filter((trace) => !ledger.test(trace ?? ""))).toEqual([]);
  });

  it("says what to do after an erasure was interrupted", async () => {
    await run("set leaving --create");
    const args = ["apps/operator/commands/organizations.ts", "erase", "leaving", "--yes"];
    const child = spawn(process.execPath, args, { env: { ...process.env, DATA_DIR: directory } });
    let error = "";
    for await (const chunk of child.stderr) {
      error += String(chunk);
      if (!child.killed && error.includes("waiting until")) child.kill("SIGINT");
    }
    expect(error).toContain("leaving is partly erased, and its keys are revoked. Run the same command again");
    expect(child.exitCode ?? (await once(child, "exit"))[0]).toBe(130);
    expect((await run("show leaving")).out).toContain("its erasure started at");
    const completed = await run("erase leaving --yes");
    expect(completed).toMatchObject({ status: 0, error: expect.stringMatching(/^waiting until 20\S+Z: /) });
    expect(completed.out).toMatch(/^leaving in us is erased: .*\nbegan .* [2-9] passes, .*\nwhat remains:\n/s);
  });

  it.each([
    ["erase", "missing required argument 'organization'"],
    [
      "erase acme --item a --person b@example.com",
      "'--item <external_id>' cannot be used with option '--person <email>'",
    ],
    ["set acme --rate 1 --dry-run", "unknown option '--dry-run'"],
    ["export acme --replace", "unknown option '--replace'"],
    ["list --yes", "unknown option '--yes'"],
    ["erase acme --person ann", "--person: must be an email address"],
    ["erase acme --item none", "acme has no work item none"],
  ])("%s: says in short what is wrong", async (command, message) => {
    const { status, error } = await run(command);
    expect({ status, error }).toEqual({ status: 1, error: expect.stringContaining(message) as string });
  });
});
