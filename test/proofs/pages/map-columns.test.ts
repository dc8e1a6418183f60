import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessibilityFindings, hasBrowser, SCREENS, takeScreenshot } from "../../support/browser.ts";
import {
  becomes,
  chooseFile,
  confirmColumns,
  count,
  dropFile,
  firstIds,
  importTried,
  lineOf,
  open,
  openColumn,
  openTarget,
  startUploadSite,
  TICKETS,
  type UploadSite,
} from "../../support/upload-site.ts";
import { makeWorkbook } from "../../support/workbook.ts";

let site: UploadSite;

/** A job, as the service shows it. */
const readJob = async (id: string): Promise<object> => {
  const response = await fetch(`${site.stack.baseUrl}/v1/work_items/upload/${id}`, {
    headers: { authorization: `Bearer ${site.stack.apiKey}` },
  });
  return ((await response.json()) as { readonly data: object }).data;
};

/** A browser does not show the bodies of forms with files, so the page's own form is asked. */
const KEEP_SENT_MAPPINGS = `
  globalThis.sentMappings = [];
  const set = FormData.prototype.set;
  FormData.prototype.set = function (name, ...value) {
    if (name === "upload[mapping]") sentMappings.push(value[0]);
    set.call(this, name, ...value);
  };`;

describe.skipIf(!hasBrowser)("mapping columns on the import page", () => {
  beforeAll(async () => {
    site = await startUploadSite();
  });
  afterAll(() => site?.stop());

  test("takes another system's file from its first rows to items that can be looked at", async () => {
    const { page, complaints } = await site.begin();
    await dropFile(page, "tickets.csv", TICKETS);
    const question = page.getByRole("group", { name: "Which encoding does this file have?" });
    expect(await question.getByRole("status").textContent()).toMatch(
      /^Row \d+ isn’t valid UTF-8\. Choose the encoding/,
    );
    expect(await question.getByRole("option", { name: "UTF-8", exact: true }).count()).toBe(0);
    expect(await page.getByRole("heading", { name: "2. Match your columns" }).count()).toBe(0);
    await question.getByRole("radio", { name: /^Windows-1252 “/ }).click();
    await page.getByRole("heading", { name: "2. Match your columns" }).waitFor();
    expect(await page.getByLabel("Columns are separated by").inputValue()).toBe(";");
    expect(await lineOf(page, "ID").textContent()).toContain("from “Ticket ID”, none repeats");
    expect(await lineOf(page, "Agent").textContent()).toContain("from “Assignee email”");
    // One value isn't a date.
    const completed = page.getByRole("group", { name: "Which column has the completion date?" });
    await completed.getByText("1 of 20 values don’t look like dates").waitFor();
    await page.getByText("2 questions left", { exact: true }).waitFor();
    expect(await lineOf(page, "Time zone").textContent()).toBe("Time zoneneeds an answerAnswer");
    await takeScreenshot(page, "upload-mapping");
    expect(await accessibilityFindings(page)).toEqual([]);
    await completed.getByRole("radio", { name: "“Closed at”" }).click();
    const zone = page.getByRole("group", { name: "Which time zone are the times in?" });
    await zone.waitFor();
    expect(await lineOf(page, "Completed at").textContent()).toContain("from “Closed at”");
    expect(await page.getByRole("button", { name: "Run a trial" }).isDisabled()).toBe(true);
    // What an answer does is seen in the first rows.
    expect(await firstIds(page)).toEqual(["page-0", "page-1", "page-2"]);
    const second = page.getByRole("region", { name: "The first rows, as items" }).getByRole("listitem").nth(1);
    expect(await second.textContent()).toMatch(
      /StatusCompletedAgentagent1@.*Completed at11 Jun 2023, 12:15 \?Typework_item/,
    );
    await page.getByLabel("Another time zone").fill("berlin");
    await page.getByRole("button", { name: "Next" }).click();
    expect(await lineOf(page, "Time zone").textContent()).toContain("Europe/Berlin");
    await page.getByText("Nothing left to answer.").waitFor();
    expect(await second.textContent()).toContain("Completed at11 Jun 2023, 10:15");
    expect(await lineOf(page, "Type and subject").textContent()).toContain("Type: work_item for all · Subject: empty");
    await openTarget(page, "Status");
    expect(await page.getByLabel("“Open” (10 rows) means").inputValue()).toBe("pending");
    expect(await page.getByLabel("“Closed” (20 rows) means").inputValue()).toBe("completed");
    await openTarget(page, "Completed at");
    expect(await page.getByLabel(/ in “Closed at” is$/).inputValue()).toBe("dd/MM/yyyy HH:mm");
    await page.getByText("1 of the first 30 rows would fail: “someday” doesn’t match the format").waitFor();
    expect(await becomes(page, "Team")).toBe("kept");
    await openColumn(page, "Hours");
    await page.getByLabel("Type of “Hours”").selectOption("number");
    await page.getByText("30 of the first 30 rows would fail").waitFor();
    await open(page, "More settings");
    const empty = page.getByLabel("Values that mean “empty”");
    await empty.press("End");
    await empty.pressSequentially(" n/a  unset");
    expect(await empty.inputValue()).toMatch(/ n\/a  unset$/);
    await page.getByLabel("Decimal mark of numbers").selectOption(",");
    await page.getByLabel("Empty cells").selectOption("clear");
    await page.getByText("1 of the first 30 rows would fail").waitFor();
    // Only one form is open.
    expect(await page.locator(".strip form").count()).toBe(1);
    expect(await accessibilityFindings(page)).toEqual([]);

    await page.getByRole("button", { name: "Run a trial" }).click();
    await page.getByText("Nothing was saved").waitFor();
    expect(await count(page, "would be created")).toBe("29");
    expect(await count(page, "would fail")).toBe("1");
    await page.getByText("Times are in UTC, this computer’s time zone.").waitFor();
    // The lines of finished steps are whole.
    await page.setViewportSize(SCREENS.phone.viewport);
    const lines = page.locator(".steps > li > button.step span");
    expect(await lines.evaluateAll((all) => all.map((one) => one.scrollWidth <= one.clientWidth))).toEqual([
      true,
      true,
    ]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await page.setViewportSize(SCREENS.desktop.viewport);
    await page.getByRole("region", { name: "Values to replace" }).waitFor();
    await open(page, "failed row");
    await page.getByRole("region", { name: "Failed rows" }).waitFor();
    await takeScreenshot(page, "upload-tried");
    expect(await accessibilityFindings(page)).toEqual([]);

    await page.getByRole("button", { name: "Import 29, leave out 1" }).click();
    await page.getByRole("heading", { name: "Import of tickets.csv" }).waitFor();
    await page.getByText("Import finished.").waitFor();
    expect(await count(page, "created")).toBe("29");
    await open(page, "failed row");
    const failed = page.getByRole("region", { name: "Failed rows" });
    expect(await failed.textContent()).toContain("page-4");
    expect(await page.getByRole("link", { name: /Download all/ }).getAttribute("href")).toContain("failed_rows");
    const [results] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download row-by-row results" }).click(),
    ]);
    expect(readFileSync(await results.path(), "utf8")).toMatch(
      /^\uFEFF_row,external_id,id,outcome\n2,page-0,[-0-9a-f]{36},created\n/,
    );

    const [, before = ""] = page.url().split("#job=");
    await page.getByRole("button", { name: "Use this mapping for another file" }).click();
    await page.getByText("Using the mapping of tickets.csv.").waitFor();
    await chooseFile(
      page,
      "more.csv",
      Buffer.from("Ticket ID;Status;Closed at;Assignee email;Hours\nmore-1;Open;;;2,5\n"),
    );
    expect(await lineOf(page, "Agent").textContent()).toContain("remembered: from “Assignee email”");
    await page.evaluate(KEEP_SENT_MAPPINGS);
    await importTried(page);
    expect(await page.evaluate<string>("sentMappings[0]")).toBe(JSON.stringify({ from: before }));
    expect([await count(page, "created"), await count(page, "failed")]).toEqual(["1", "0"]);
    const [, id = ""] = page.url().split("#job=");
    expect(await readJob(id)).toMatchObject({ mapping: { blank: "clear", decimal: ",", delimiter: ";" } });
    await page.getByRole("link", { name: "Import a file", exact: true }).click();
    await page.getByRole("button", { name: "Use a proposal instead" }).click();
    // The page shows a frame before its effects run.
    await open(page, "2. Match");
    await open(page, "More settings");
    await expect.poll(() => page.getByLabel("Empty cells").inputValue()).toBe("keep");

    // The zone of the last file is offered first, and asked: this one may be of another system.
    await chooseFile(page, "zone.csv", Buffer.from("Ticket ID,Closed at\nzone-1,2026-03-01 09:00\n"));
    await openTarget(page, "Time zone");
    const zones = page.getByRole("group", { name: "Which time zone are the times in?" }).locator(".answers label");
    expect(await zones.first().textContent()).toBe(
      "Europe/Berlin“2026-03-01 09:00” is 1 Mar 2026, 08:00 on this computer’s clock",
    );
    await zones.first().click();
    expect(await page.getByRole("button", { name: "Run a trial" }).isDisabled()).toBe(true);
    await confirmColumns(page);
    await expect.poll(() => page.getByRole("button", { name: "Run a trial" }).isEnabled()).toBe(true);

    await page.getByRole("link", { name: "Imports" }).click();
    await page.getByRole("region", { name: "Imports, newest first" }).waitFor();
    expect(await page.locator("tbody tr", { hasText: "tickets.csv" }).first().textContent()).toMatch(
      /^tickets\.csv\d trial runs?Trial run, finished.*default/,
    );
    expect(await accessibilityFindings(page)).toEqual([]);

    await page.getByRole("link", { name: "Items", exact: true }).click();
    await open(page, "Filters");
    const filters = page.getByRole("form", { name: "Filters" });
    await filters.getByLabel("Agent’s email").fill("agent1@example.com");
    await page.getByRole("button", { name: "Apply filters" }).click();
    const items = page.getByRole("region", { name: "Items" });
    await expect.poll(() => items.locator("tbody tr").count()).toBe(8);
    expect(page.url()).toMatch(/#items\?agent_email=agent1%40example\.com$/);
    await takeScreenshot(page, "upload-items");
    expect(await accessibilityFindings(page)).toEqual([]);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download these items (CSV)" }).click(),
    ]);
    const text = readFileSync(await download.path(), "utf8");
    const command = ["apps/cli/work-items-command.ts", "export", "--agent-email", "agent1@example.com"];
    const env = { ...process.env, BASE_URL: site.stack.baseUrl, API_KEY: site.stack.apiKey };
    expect((await promisify(execFile)(process.execPath, command, { env })).stdout).toBe(text);
    const exported = text.trimEnd().split("\n");
    expect(exported).toHaveLength(9);
    expect(exported[0]).toBe(
      "\uFEFFexternal_id,agent_email,agent_name,agent_external_id,type,status,completed_at,custom_attributes",
    );
    const one = exported.find((line) => line.startsWith("page-1,"));
    expect(one).toContain('"{""Status"":""Closed"",""Hours"":12345678901234567890.5,""Team"":""Zürich1""}"');
    expect(one).toContain("completed,2023-06-11T10:15:00.000Z");

    await page.getByRole("link", { name: "page-1", exact: true }).click();
    await page.getByRole("heading", { name: "page-1" }).waitFor();
    expect(await page.locator(".facts").last().textContent()).toContain("Zürich1");
    await page.goBack();
    await expect.poll(() => items.locator("tbody tr").count()).toBe(8);
    await open(page, "Filters: Agent’s email agent1@example.com");
    expect(await filters.getByLabel("Agent’s email").inputValue()).toBe("agent1@example.com");

    await open(page, "demo");
    await page.getByRole("button", { name: "Remove key" }).click();
    expect(await page.getByLabel("Your organization’s API key").inputValue()).toBe("");
    expect(await page.locator("main").textContent()).not.toContain("Zürich1");
    const kept = "JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])";
    expect(await page.evaluate<string>(kept)).not.toContain(site.stack.apiKey);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("asks for a look at what is only likely, and whether the day or the month comes first", async () => {
    const { page, complaints } = await site.begin();
    const rows = Array.from(
      { length: 12 },
      (_, index) => `guess-${index};0${(index % 9) + 1}/0${(index % 7) + 1}/2025`,
    );
    const file = ["Closed tickets of June;;;;", ";;;;", "ID;Closed;Email;Note;Note"];
    const lines = rows.map((row, index) => `${row};ann@example.com;first ${index};second ${index}`);
    await chooseFile(page, "guess.csv", Buffer.from([...file, ...lines, ""].join("\n")));
    await page.getByRole("heading", { name: "2. Match your columns" }).waitFor();
    expect(await page.getByLabel("Header", { exact: true }).inputValue()).toBe("3");
    expect(await becomes(page, "Note")).toBe("kept");
    expect(await becomes(page, "Note (2)")).toBe("kept");
    expect(await page.getByRole("button", { name: "Run a trial" }).isDisabled()).toBe(true);
    // What a time zone makes of a date isn't shown before it is known which date that is.
    const zone = await openTarget(page, "Time zone");
    expect(await zone.getByText("on this computer’s clock").count()).toBe(0);
    await openColumn(page, "Note (2)");
    await page.getByLabel("“Note (2)” becomes").selectOption("left out");
    await takeScreenshot(page, "upload-likely");
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Next" }).click();
    expect(await lineOf(page, "Other columns").textContent()).toContain("2 kept, 1 left out");
    // A bare “Email” may be anyone's.
    const agent = page.getByRole("group", { name: "Which column is the agent?" });
    await agent.getByRole("radio", { name: "“Email”" }).click();
    expect(await lineOf(page, "Agent").textContent()).toContain("from “Email”");
    await openTarget(page, "Completed at");
    await page
      .getByRole("group", { name: /^Which date is “0\d\/0\d\/2025”/ })
      .getByRole("radio")
      .last()
      .click();
    await confirmColumns(page);
    await importTried(page);
    expect([await count(page, "created"), await count(page, "failed")]).toEqual(["12", "0"]);
    const [, id = ""] = page.url().split("#job=");
    expect(await readJob(id)).toMatchObject({ mapping: { header_row: 3 } });
    await page.getByRole("link", { name: "Items", exact: true }).click();
    await page.getByRole("link", { name: "guess-1", exact: true }).click();
    await page.getByRole("heading", { name: "guess-1" }).waitFor();
    const facts = (await page.locator(".facts").allTextContents()).join();
    expect(facts).toContain("first 1");
    expect(facts).not.toContain("second 1");

    // For a file with the same columns, only its dates are asked about.
    await page.getByRole("link", { name: "Import a file", exact: true }).click();
    await chooseFile(page, "next.csv", Buffer.from([...file, `next-1;01/02/2025;ben@example.com;a;b`, ""].join("\n")));
    await page.getByRole("group", { name: /^Which date is/ }).waitFor();
    await page.getByText("2 questions left", { exact: true }).waitFor();
    expect(await lineOf(page, "Agent").textContent()).toContain("remembered: from “Email”");
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("says what speaks against a column that a person chose", async () => {
    const { page, complaints } = await site.begin();
    const rows = ["c-1,Ann Lee; Bob Stone,2026-03-02,09:15", "c-2,Ann Lee,2026-03-03,10:30"];
    await chooseFile(page, "calls.csv", Buffer.from(["Ticket ID,User group,Date,Time", ...rows, ""].join("\n")));
    const agent = await openTarget(page, "Agent");
    await agent.getByLabel("Agent’s name from").selectOption("User group");
    await page.getByText("Each value of “User group” becomes an agent, as if it were a person.").waitFor();
    await agent.getByText("Values such as “Ann Lee; Bob Stone” name several people.").waitFor();
    const completed = await openTarget(page, "Completed at");
    await completed.getByLabel("Completed at from").selectOption("Date");
    await completed.getByText("The time of day is in “Time”. Only the date is imported.").waitFor();
    const further = completed.getByLabel("When “Date” is empty, from");
    await further.selectOption("Time");
    await completed.getByText("“09:15” is a time of day without its date.").waitFor();
    expect(await page.getByRole("status").filter({ hasText: "left" }).first().textContent()).toMatch(/question/);
    await further.selectOption("Nothing else");
    await completed.getByLabel("Completed at from").selectOption({ label: "“Date” + “Time”" });
    const zone = await openTarget(page, "Time zone");
    await zone.getByText("“2026-03-02 09:15” is").first().waitFor();
    await zone.getByRole("radio").first().click();
    await expect.poll(() => lineOf(page, "Completed at").textContent()).toContain("from “Date” + “Time”");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("offers a prefix when a trial of another system's file would change items, and names repeated IDs", async () => {
    const { page, complaints } = await site.begin();
    await chooseFile(page, "tickets.csv", Buffer.from("external_id,status\n1002,pending\n"));
    await confirmColumns(page);
    await importTried(page);
    await page.getByRole("link", { name: "Import a file", exact: true }).click();
    await chooseFile(
      page,
      "orders.csv",
      Buffer.from("Order ID,Status,Size\n1002,Open,2\n1003,Open,3\n1003,Closed,4\n"),
    );
    const id = await openTarget(page, "ID");
    await id.getByLabel("ID from").selectOption("Order ID");
    await confirmColumns(page);
    expect(await lineOf(page, "Other columns").textContent()).toContain("1 kept (1 as numbers)");
    await page.getByText("1 row repeats the ID of an earlier row.").waitFor();
    const mainButton = page.locator("button.main:visible");
    expect(await mainButton.textContent()).toBe("Run a trial");
    await mainButton.click();
    await page.getByText("This file would change items that already exist.").waitFor();
    const changed = page.getByRole("list", { name: "Changed items" });
    // The second row of 1003 changes an item that this file creates.
    expect(await changed.textContent()).toMatch(/^Row 21002(?!.*1003)/);
    await takeScreenshot(page, "upload-prefix");
    expect(await accessibilityFindings(page)).toEqual([]);
    const importing = page.getByRole("button", { name: "Import 3 rows" });
    expect(await importing.isDisabled()).toBe(true);
    await page.getByText("Answer the question above before you import.").waitFor();
    await page.getByRole("button", { name: "Yes, change these items" }).press("Enter");
    expect(await page.locator(":focus").textContent()).toBe("These are the same items.");
    expect(await importing.isDisabled()).toBe(false);
    // The trial can be opened again, but not by another mapping.
    await page.getByRole("link", { name: "Import a file", exact: true }).click();
    const toTrial = page.getByRole("link", { name: "Continue to the check" });
    await toTrial.waitFor();
    await openTarget(page, "ID");
    await page.getByLabel("Prefix (optional)").fill("x");
    await expect.poll(() => toTrial.count()).toBe(0);
    await page.getByLabel("Prefix (optional)").fill("");
    await toTrial.click();
    expect(await importing.isDisabled()).toBe(false);
    // A new trial asks again.
    await page.getByRole("link", { name: "Import a file", exact: true }).click();
    await page.getByRole("button", { name: "Run the trial again" }).click();
    await importing.waitFor();
    expect(await importing.isDisabled()).toBe(true);
    expect(await page.getByLabel("Prefix for IDs").inputValue()).toBe("orders-");
    await page.getByRole("button", { name: "No, run the trial again with this prefix" }).click();
    await expect.poll(() => count(page, "would be created")).toBe("2");
    await importing.click();
    await page.getByRole("heading", { name: "Import of orders.csv" }).waitFor();
    await page.getByText("Import finished.").waitFor();
    await page.getByRole("link", { name: "Items", exact: true }).click();
    await page.getByRole("link", { name: "orders-1002", exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "1002", exact: true }).count()).toBe(1);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("makes events of a log's rows, in UTF-16, and shows them as a timeline", async () => {
    const { page, complaints } = await site.begin();
    const log = [
      "number\tstate\tmod\tupdated_by\tupdated_at",
      "INC1\tNew\t0\tAnn\t2026-03-01 09:00",
      "INC1\tClosed\t1\tBen\t2026-03-01 11:00",
      "",
    ].join("\n");
    await chooseFile(page, "log.txt", Buffer.from(`\uFEFF${log}`, "utf16le"));
    expect(await page.getByLabel("Encoding", { exact: true }).inputValue()).toBe("utf-16le");
    expect(await page.getByLabel("Columns are separated by").inputValue()).toBe("\t");
    await open(page, "More settings");
    await page.getByLabel(/^This file is a change log/).check();
    expect(await lineOf(page, "Event ID").textContent()).toContain("needs an answer");
    // No column differs in each row of a log by itself.
    const id = await openTarget(page, "ID");
    await id.getByLabel("ID from").selectOption("number");
    await openTarget(page, "Event ID");
    await page.getByLabel("Event ID from").selectOption("number");
    await page.getByLabel("Together with").selectOption("mod");
    for (const [name, field, column] of [
      ["Happened at", "Happened at from", "updated_at"],
      ["What happened", "What happened from", "state"],
      ["Actor", "Actor’s name from", "updated_by"],
    ] as const) {
      await openTarget(page, name);
      await page.getByLabel(field).selectOption(column);
    }
    await confirmColumns(page);
    await importTried(page);
    expect(await count(page, "failed")).toBe("0");
    await page.getByRole("link", { name: "Items", exact: true }).click();
    await page.getByRole("link", { name: "INC1" }).click();
    const events = page.locator(".timeline li");
    await events.first().waitFor();
    expect(await events.allTextContents()).toEqual([
      expect.stringMatching(/Ann · 1 Mar 2026, 09:00 · INC1-0.*New/s),
      expect.stringMatching(/Ben · 1 Mar 2026, 11:00 · INC1-1.*Closed/s),
    ]);
    await takeScreenshot(page, "upload-item");
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("keeps the file that was chosen last, though the one before it takes longer to read", async () => {
    const { page, complaints } = await site.begin();
    const isReadable = Promise.withResolvers<void>();
    await page.route(/workbook/, async (route) => isReadable.promise.then(() => route.continue()));
    await chooseFile(page, "cases.xlsx", makeWorkbook({ Cases: [["id"], ["of-the-workbook"]] }));
    await chooseFile(page, "rows.csv", Buffer.from("id,kind\nof-the-text,b\n"));
    await page.getByRole("heading", { name: "2. Match your columns" }).waitFor();
    const loaded = page.waitForResponse(/workbook/);
    isReadable.resolve();
    await (await loaded).finished();
    await page.evaluate("new Promise((resolve) => setTimeout(() => requestIdleCallback(resolve)))");
    expect(await page.getByRole("button", { name: /1\. File/ }).textContent()).toContain("rows.csv");
    await confirmColumns(page);
    await importTried(page);
    await page.getByRole("heading", { name: "Import of rows.csv" }).waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("says what it leaves out of all IDs, and asks about separators of thousands", async () => {
    const { page, complaints } = await site.begin();
    await chooseFile(page, "wrapped.csv", Buffer.from("Ticket ID,Status\n['W-1'],Open\n['W-2'],Open\n"));
    await page.getByText("which isn’t imported: ['W-1'] becomes W-1.").waitFor();
    await expect.poll(() => firstIds(page)).toEqual(["W-1", "W-2"]);
    await chooseFile(page, "marked.csv", Buffer.from('Ticket ID,Status\n"7,001",Open\n"7,002",Open\n999,Open\n'));
    const offer = page.getByRole("checkbox", {
      name: "Remove the separators of thousands from the ID: 7,001 becomes 7001",
    });
    await offer.check();
    await expect.poll(() => firstIds(page)).toEqual(["7001", "7002", "999"]);
    await offer.uncheck();
    await expect.poll(() => firstIds(page)).toEqual(["7,001", "7,002", "999"]);
    await offer.check();
    await expect.poll(() => firstIds(page)).toEqual(["7001", "7002", "999"]);
    await confirmColumns(page);
    await importTried(page);
    expect([await count(page, "created"), await count(page, "failed")]).toEqual(["3", "0"]);
    const found = await fetch(`${site.stack.baseUrl}/v1/work_items?external_id=7001`, {
      headers: { authorization: `Bearer ${site.stack.apiKey}` },
    });
    expect(await found.json()).toMatchObject({ data: [{ external_id: "7001" }] });
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("leaves out what doesn’t look like an item, and says so again beside the trial", async () => {
    const { page, complaints } = await site.begin();
    const items = Array.from({ length: 12 }, (_, row) => `S-${row},Question ${row},Ann,Open`);
    const csv = ["Ticket ID,Subject,Agent,Status", ...items, "S-99,Media server is down,,Open", "SUM,,,30", ""].join(
      "\n",
    );
    await chooseFile(page, "sums.csv", Buffer.from(csv));
    expect(await lineOf(page, "Totals and notes").textContent()).toContain("1 row left out");
    await openTarget(page, "Totals and notes");
    await page.getByRole("checkbox", { name: "Leave out row 15: SUM, 30" }).waitFor();
    expect(await page.getByRole("checkbox", { name: /^Leave out row/ }).count()).toBe(1);
    await confirmColumns(page);
    await page.getByRole("button", { name: "Run a trial" }).click();
    await expect.poll(() => count(page, "would be created")).toBe("13");
    expect(await page.locator(".warning", { hasText: "1 row isn’t imported" }).textContent()).toContain(
      "Row 15: SUM, 30",
    );
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("loads the reader of workbooks only for a workbook, and lets choose the sheet", async () => {
    const { page, complaints } = await site.begin();
    const loaded: string[] = [];
    page.on("response", (response) => loaded.push(response.url()));
    await chooseFile(page, "rows.csv", Buffer.from("id,kind\na,b\n"));
    await page.getByRole("button", { name: "Run a trial" }).waitFor();
    expect(loaded.filter((url) => url.includes("workbook"))).toEqual([]);
    const workbook = makeWorkbook({
      Notes: [["only text"]],
      Meanings: [
        ["Status", "Meaning"],
        ["Resolved", "done"],
      ],
      Cases: [
        ["", "Case Number", "Status", "Note"],
        ["", "sheet-1", "Resolved", 'a "quoted" note, with comma'],
        // More than is unpacked at once: its reader would start a worker, which the page's policy forbids.
        ...Array.from({ length: 40 }, (_, row) => ["", `sheet-${row + 2}`, "New", `${"Ünïcode ".repeat(2000)}${row}`]),
      ],
    });
    await chooseFile(page, "cases.xlsx", workbook);
    const question = page.getByRole("group", { name: "Which sheet has the items?" });
    await takeScreenshot(page, "sheets");
    await question.getByLabel("Cases: “Case Number” “Status” “Note”").click();
    // Not the step of the file before, which leads on when the new one has been read.
    await open(page, /File.*sheet “Cases” of 3, cases\.xlsx/);
    await page.getByLabel("Sheet").selectOption("Meanings");
    await page.getByLabel("Sheet").selectOption("Cases");
    await page.getByRole("button", { name: "Continue", exact: true }).click();
    expect(await lineOf(page, "ID").textContent()).toContain("from “Case Number”");
    expect(loaded.filter((url) => url.includes("workbook"))).toHaveLength(1);
    await confirmColumns(page);
    await importTried(page);
    expect([await count(page, "created"), await count(page, "failed")]).toEqual(["41", "0"]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
