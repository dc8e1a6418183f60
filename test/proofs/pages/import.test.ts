import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HEAD_BYTES } from "../../../apps/importer/files/text-file.ts";
import { accessibilityFindings, hasBrowser, openPage, SCREENS, takeScreenshot } from "../../support/browser.ts";
import {
  openTarget,
  chooseFile,
  confirmColumns,
  count,
  firstIds,
  importTried,
  lineOf,
  look,
  open,
  startUploadSite,
  type UploadSite,
} from "../../support/upload-site.ts";
import { makeWorkbook } from "../../support/workbook.ts";

/** Leaves JSON as it is in Safari before 18.4 and Firefox before 135. */
const WITHOUT_JSON_SOURCES = `{
  delete JSON.rawJSON;
  delete JSON.isRawJSON;
  const { parse } = JSON;
  JSON.parse = (text, revive) =>
    parse(text, revive && function (key, value) { return revive.call(this, key, value); });
}`;

let site: UploadSite;

describe.skipIf(!hasBrowser)("an import on the import page", () => {
  beforeAll(async () => {
    site = await startUploadSite();
  });
  afterAll(() => site?.stop());

  test("corrects failed values of a trial in the page, by keyboard, and imports the corrected rows", async () => {
    const { page, complaints } = await site.begin();
    const rows = Array.from({ length: 30 }, (_, index) => {
      const closed = index % 10 === 5 ? `soon ${index}` : "2026-03-01T09:00:00Z";
      const email = index === 15 ? "nobody" : "ann@example.com";
      return `repair-${index},${closed},${email},"note; with ""quotes"",\r\nand lines ${index}"`;
    });
    await chooseFile(page, "repair.csv", Buffer.from(`ID,Closed at,Assignee email,Note\r\n${rows.join("\r\n")}\r\n`));
    await confirmColumns(page);
    await page.getByRole("button", { name: "Run a trial" }).click();
    const inputs = page.getByRole("region", { name: "Values to replace" }).getByRole("textbox");
    const replace = async (values: readonly string[]): Promise<void> => {
      await expect.poll(() => inputs.count()).toBe(values.length);
      for (const [index, value] of values.entries()) {
        await inputs.nth(index).focus();
        await page.keyboard.press("ControlOrMeta+a");
        await page.keyboard.type(value);
      }
      // What the corrected rows would do isn't known before they were tried.
      expect(await page.locator("button.main:visible").textContent()).toBe("Run the trial again with the corrections");
    };
    await replace(["2026-03-02T09:00:00Z", "2026-03-03T09:00:00Z", "2026-03-04T09:00:00Z"]);
    // The row of the second value has a second error.
    await page.getByText("“nobody” isn’t").filter({ visible: true }).waitFor();
    await takeScreenshot(page, "upload-repaired");
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Run the trial again with the corrections" }).click();
    await page.getByLabel("Instead of “nobody” in Assignee email").waitFor();
    await replace(["ben@example.com"]);
    await page.getByRole("button", { name: "Run the trial again with the corrections" }).click();
    await expect.poll(() => count(page, "would be created")).toBe("30");
    expect(await page.locator("button.main:visible").textContent()).toBe("Import 30 rows");
    // The corrections stay while the columns are looked at again.
    await open(page, "2. Match");
    await page.getByRole("button", { name: "Run the trial again", exact: true }).click();
    await expect.poll(() => count(page, "would be created")).toBe("30");
    await page.getByRole("button", { name: "Import 30 rows" }).click();
    await page.getByText("Import finished.").waitFor();
    expect([await count(page, "created"), await count(page, "failed")]).toEqual(["30", "0"]);
    await page.getByRole("link", { name: "Items", exact: true }).click();
    await page.getByRole("link", { name: "repair-15", exact: true }).click();
    await page.getByRole("heading", { name: "repair-15" }).waitFor();
    const facts = (await page.locator(".facts").allTextContents()).join();
    expect(facts).toContain("ben@example.com");
    expect(facts).toContain('note; with "quotes",');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("shows after a trial what its items and values would be, and what contradicts", async () => {
    const { page, complaints } = await site.begin();
    const header = "Ticket ID,Status,Type,Agent,Closed at,Subject,Team";
    const rowOf = (index: number, agent = `Ann ${index % 12}`, closed = "2024-03-04T10:00:00Z"): string =>
      `shown-${index},${index % 4 ? "Closed" : "Open"},call,${agent},${index % 4 ? closed : ""},Printer ${index},north`;
    const first = Array.from({ length: 40 }, (_, index) => rowOf(index));
    const trial = async (name: string, rows: readonly string[]): Promise<void> => {
      await chooseFile(page, name, Buffer.from([header, ...rows].join("\n")));
      await confirmColumns(page);
      await page.getByRole("button", { name: "Run a trial" }).click();
    };
    await trial("first.csv", first);
    await page.getByRole("heading", { name: "Values in 40 rows" }).waitFor();
    await page.getByText("Imports into the organization demo with the key default.").waitFor();
    await page.getByRole("button", { name: "Import 40 rows" }).click();
    await page.getByText("Import finished.").waitFor();
    await page.getByRole("link", { name: "Import a file", exact: true }).click();

    const long = "far ".repeat(80).trim();
    const second = [
      rowOf(0),
      `shown-1,Closed,call,Ben,2024-03-04T10:00:00Z,Printer 1,${long}`,
      "shown-50,Closed,,Ben,,New one,south",
      "shown-51,Open,,,2123-12-31T10:00:00Z,Other,south",
      "shown-52,Closed,,,soon,,",
      "Total,4,,,,,",
    ];
    const areLoaded = Promise.withResolvers<void>();
    await page.route("**/results", async (route) => areLoaded.promise.then(() => route.continue()));
    await trial("second.csv", second);
    await page.getByText("Loading what would change…").waitFor();
    await page.getByRole("heading", { name: "Values in 4 rows" }).waitFor();
    expect(await page.getByRole("button", { name: /^Import / }).count()).toBe(0);
    areLoaded.resolve();
    await page.locator("#examples").waitFor();
    const texts = (selector: string) => page.locator(selector).allTextContents();
    // What is changed or fails stands in lists of its own.
    expect(await texts("#examples + ul h3")).toEqual(["shown-50", "shown-51"]);
    expect((await texts("#examples + ul dl"))[0]).toMatch(/Typework_itemStatusCompleted/);
    // Both values of each field, also of one that is too long for the results.
    await page.getByText("Agent’s name in 1 row, subject or other columns in 1 row.").waitFor();
    const cards = page.getByRole("list", { name: "Changed items" }).getByRole("listitem");
    expect(await cards.allTextContents()).toEqual([`Row 3shown-1Agent’s nameAnn 1 → BenTeamnorth → ${long}`]);
    const figures = await texts("figure");
    expect(figures[0]).toBe("StatusPending2Completed2");
    expect(figures[1]).toMatch(/^Typecall2work_item2Empty in 2 rows\. New items get the value above; existing/);
    expect(figures[2]).toBe("AgentBen2Ann 01Empty in 1 row.");
    expect(figures[3]).toMatch(/^Completed atEarliest4 Mar 2024.*Latest31 Dec 2123.*Empty in 2 rows\./);
    await page.getByText("1 row would be completed in the future, the latest at 31 Dec 2123").waitFor();
    await page.getByText("1 row is completed but has no completion date.").waitFor();
    await page.getByText("1 row has a completion date but isn’t completed (1 Pending).").waitFor();
    const button = page.locator("button.main:visible");
    expect(await button.textContent()).toBe("Import 4, leave out 2");
    const order = page.locator(".counts, main .warning, #failed, .repairs, .examples, #values, .dock");
    expect(await order.evaluateAll((all) => all.map((one) => one.id || one.className))).toEqual([
      "counts",
      "warning",
      "failed",
      "repairs",
      "warning",
      "examples",
      "examples",
      "values",
      "dock",
    ]);
    for (const { viewport } of [SCREENS.phone, SCREENS.desktop]) {
      await page.setViewportSize(viewport);
      for (const place of ["0", "document.body.scrollHeight / 2"]) {
        await page.evaluate(`scrollTo(0, ${place})`);
        const { y = 0, height = 0 } = (await button.boundingBox()) ?? {};
        expect([y > 0, y + height <= viewport.height]).toEqual([true, true]);
        expect((await page.locator(".dock").boundingBox())!.height).toBeLessThan(73);
      }
    }
    expect(await accessibilityFindings(page)).toEqual([]);
    await takeScreenshot(page, "upload-trial");

    // Without the file, the page knows what exists and what would change.
    const { page: other } = await site.begin(new URL(page.url()).hash);
    await other.getByRole("list", { name: "Changed items" }).waitFor();
    expect(await other.getByRole("button", { name: /^Import/ }).count()).toBe(0);
    await other.context().close();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("corrects a value once for all of its rows, and imports them", async () => {
    const { page, complaints } = await site.begin();
    const rows = Array.from({ length: 12 }, (_, index) => {
      const status = index < 6 ? "Parked" : (["Lost", "Problem solved"][index - 6] ?? "Closed");
      const closed = index > 9 ? "02/03/2026" : index > 6 ? "2026-03-01" : "";
      return `value-${index},${status},${index % 4 === 3 && index < 8 ? "nobody" : "ann@example.com"},${closed},${closed && "2026-03-05"}`;
    });
    await chooseFile(
      page,
      "values.csv",
      Buffer.from(`Ticket ID,Status,Assignee email,Closed at,Solved at\n${rows.join("\n")}\n`),
    );
    await openTarget(page, "Status");
    const asked = page.getByRole("group", { name: "What does each status mean?" });
    await asked.getByLabel("“Parked” (6 rows) means").selectOption("In progress");
    expect(await page.getByRole("button", { name: "Next" }).isDisabled()).toBe(true);
    await asked.getByLabel("“Lost” (1 row) means").selectOption("Leave empty");
    expect(await asked.getByLabel("“Problem solved” (1 row) means").inputValue()).toBe("completed");
    // What is known can be checked too.
    expect(await asked.getByLabel("“Closed” (4 rows) means").inputValue()).toBe("completed");
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByRole("radio", { name: "“Closed at”, else “Solved at”" }).waitFor();
    await lineOf(page, "Status").getByText("from “Status”").waitFor();
    await confirmColumns(page);
    await page.getByRole("button", { name: "Run a trial" }).click();
    const values = page.getByRole("region", { name: "Values to replace" });
    await values.waitFor();
    expect(await values.locator("tbody tr").allTextContents()).toEqual([
      expect.stringMatching(/^2Assignee emailnobody/),
      expect.stringMatching(/^2Closed at02\/03\/2026/),
    ]);
    expect(await accessibilityFindings(page)).toEqual([]);
    await values.getByRole("button", { name: "Leave empty" }).first().click();
    expect(await values.getByRole("button", { name: /^Use / }).allTextContents()).toEqual([
      "Use 2026-03-02",
      "Use 2026-02-03",
    ]);
    await values.getByRole("button", { name: "Use 2026-02-03" }).click();
    expect(await values.getByText("✓ Fits now").count()).toBe(2);
    await takeScreenshot(page, "upload-values");
    await page.getByRole("button", { name: "Run the trial again with the corrections" }).click();
    await expect.poll(() => count(page, "would be created")).toBe("12");
    await page.getByRole("button", { name: "Import 12 rows" }).click();
    await page.getByText("Import finished.").waitFor();
    expect([await count(page, "created"), await count(page, "failed")]).toEqual(["12", "0"]);
    await page.getByRole("link", { name: "View its items" }).click();
    await page.getByText("12 items, in the order of the file.").waitFor();
    expect(await page.getByRole("link", { name: /^value-\d+$/ }).count()).toBe(12);
    // One row has no status: the item is new, and pending.
    const statuses = await page.locator("td .status").allTextContents();
    expect(Map.groupBy(statuses, (status) => status).get("Pending")).toHaveLength(1);
    expect(await accessibilityFindings(page)).toEqual([]);
    await takeScreenshot(page, "upload-imported-items");
    await page.getByRole("link", { name: "Items", exact: true }).click();
    await open(page, "Filters");
    const form = page.getByRole("form", { name: "Filters" });
    const type = form.getByLabel("Type", { exact: true });
    await type.pressSequentially(" phone call ");
    expect(await type.inputValue()).toBe(" phone call ");
    await page.getByRole("button", { name: "Apply filters" }).click();
    await page.waitForURL(/#items\?type=phone\+call$/);
    await open(page, "Filters: Type phone call");
    await type.fill("");
    await form.getByLabel("Status").selectOption("in_progress");
    await page.getByRole("button", { name: "Apply filters" }).click();
    await expect.poll(() => page.getByRole("link", { name: /^value-\d+$/ }).count()).toBe(6);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download these items (CSV)" }).click(),
    ]);
    const exported = readFileSync(await download.path(), "utf8");
    expect(exported.split("\n").filter((line) => line.startsWith("value-"))).toHaveLength(6);
    await page.getByRole("link", { name: "value-1", exact: true }).click();
    await page.getByRole("link", { name: "Back to the list" }).click();
    await expect.poll(() => page.getByRole("link", { name: /^value-\d+$/ }).count()).toBe(6);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("imports a file without IDs by an ID of its columns, and the same file again as the same items", async () => {
    const { page, complaints } = await site.begin();
    const rows = Array.from({ length: 9 }, (_, index) => `Ann ${index % 3},2024-03-0${1 + Math.floor(index / 3)},5`);
    const file = Buffer.from(`Agent,Day,Calls\n${rows.join("\n")}\n`);
    const trial = async (): Promise<void> => {
      await page.getByRole("group", { name: "Which column is the ID?" }).waitFor();
      expect(await page.getByRole("button", { name: "Run a trial" }).isDisabled()).toBe(true);
      for (const name of ["Agent", "Day"]) await page.getByRole("checkbox", { name, exact: true }).check();
      await expect.poll(() => firstIds(page)).toContain("Ann 0-2024-03-01");
      expect(await accessibilityFindings(page)).toEqual([]);
      await confirmColumns(page);
      await page.getByRole("button", { name: "Run a trial" }).click();
    };
    await chooseFile(page, "calls.csv", file);
    await trial();
    await expect.poll(() => count(page, "would be created")).toBe("9");
    await page.getByRole("button", { name: "Import 9 rows" }).click();
    await page.getByText("Import finished.").waitFor();
    await page.getByRole("link", { name: "Import a file", exact: true }).click();
    await chooseFile(page, "calls.csv", file);
    // A file with the same columns gets the same answers.
    await confirmColumns(page);
    await page.getByRole("button", { name: "Run a trial" }).click();
    await expect.poll(() => count(page, "would stay unchanged")).toBe("9");
    // Other tests' items fill the first page of the list.
    await page.goto(`${site.stack.baseUrl}/upload#items?external_id=Ann%201-2024-03-02`);
    await page.getByRole("link", { name: "Ann 1-2024-03-02" }).click();
    await page.getByRole("heading", { name: "Ann 1-2024-03-02" }).waitFor();
    // The parts of the ID are kept as well.
    expect((await page.locator(".facts").allTextContents()).join()).toMatch(/Agent.*Ann 1.*Calls5/s);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("asks after a trial that would update items what empty cells do, and clears fields on request", async () => {
    const { page, complaints } = await site.begin();
    const question = page.getByRole("group", { name: "Should empty cells clear what items have?" });
    const tryFile = async (name: string, rows: string): Promise<void> => {
      await page.getByRole("link", { name: "Import a file", exact: true }).click();
      await chooseFile(page, name, Buffer.from(`Ticket ID,Status,Assignee email,Closed at,Note\n${rows}`));
      await confirmColumns(page);
      await page.getByRole("button", { name: "Run a trial" }).click();
      await page.getByText("Nothing was saved.").waitFor();
    };
    await tryFile("new.csv", "blank-1,Closed,ann@example.com,2026-03-01,a\nblank-2,Open,,,a\n");
    expect(await question.count()).toBe(0);
    await page.getByRole("button", { name: "Import 2 rows" }).click();
    await page.getByText("Import finished.").waitFor();

    // Longer than the values that results show.
    const note = "note ".repeat(60);
    const reopened = `blank-1,Open,,,${note}\nblank-2,Open,ben@example.com,,a\n`;
    await tryFile("reopened.csv", reopened);
    await question
      .getByText("2 rows would update items, and these columns have empty cells: Closed at (2), Assignee email (1).")
      .waitFor();
    await question.getByText("1 row would reopen completed items, which would keep their completion dates.").waitFor();
    expect(await page.getByRole("button", { name: "Import 2 rows" }).isDisabled()).toBe(true);
    // All questions stand above what would change. The import’s times are in this computer’s zone.
    expect(await page.locator(".question, .examples").evaluateAll((all) => all.map((one) => one.className))).toEqual([
      "question",
      "examples",
    ]);
    expect(await page.getByText("this computer’s time zone").count()).toBe(0);
    await takeScreenshot(page, "upload-empty-cells");
    expect(await accessibilityFindings(page)).toEqual([]);
    await question.getByRole("button", { name: "Keep what the items have" }).press("Enter");
    expect(await page.locator(":focus").textContent()).toBe("Empty cells keep what the items have.");
    await expect.poll(() => question.count()).toBe(0);
    // The trial did the same, so the import can follow.
    expect(await page.locator("button.main:visible").textContent()).toBe("Import 2 rows");
    await open(page, "2. Match");
    await open(page, "More settings");
    expect(await page.locator("pre").textContent()).toContain('"blank": "keep"');
    expect(await page.locator("button.main:visible, a.main:visible").textContent()).toBe("Continue to the check");

    await tryFile("reopened.csv", reopened);
    await question.getByRole("button", { name: "Clear it, and run the trial again" }).click();
    await expect.poll(() => question.count()).toBe(0);
    await page.getByText("Nothing was saved.").waitFor();
    await page.getByRole("button", { name: "Import 2 rows" }).click();
    await page.getByText("Import finished.").waitFor();
    const response = await fetch(`${site.stack.baseUrl}/v1/work_items?external_id=blank-1`, {
      headers: { authorization: `Bearer ${site.stack.apiKey}` },
    });
    expect(await response.json()).toMatchObject({
      data: [{ agent: { email: null }, status: "pending", completed_at: null }],
    });
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("fills down the columns of a grouped report and removes spaces around IDs, if a person wants it", async () => {
    const { page, complaints } = await site.begin();
    const groups = ["Bob Stone", '"Dupont, Chloé"'].map((owner, group) =>
      [1, 2, 3].map(
        (each) => `${each === 1 ? owner : ""},${group === 0 ? "" : " "}fill-${group}${each},Closed,2026-03-01`,
      ),
    );
    const report = ["Case Owner,Case Number,Status,Closed", ...groups.flatMap((rows) => [...rows, "Subtotal,3,,"]), ""];
    await chooseFile(page, "grouped.csv", Buffer.from(report.join("\n")));
    await openTarget(page, "ID");

    const spaces = page.getByRole("checkbox", { name: "Remove spaces around the ID (3 rows)" });
    expect(await spaces.isChecked()).toBe(false);
    await spaces.check();
    await page.getByRole("checkbox", { name: "Remove spaces around the ID", exact: true, checked: true }).waitFor();
    expect(await lineOf(page, "Groups").textContent()).toMatch(
      /“Case Owner” only in the first row of each group.*Answer$/,
    );
    await openTarget(page, "Groups");
    const offer = page.getByRole("group", { name: /^“Case Owner” has a value only in the first row of each group/ });
    const second = page.getByRole("region", { name: "The first rows, as items" }).getByRole("listitem").nth(1);
    expect(await second.textContent()).toContain("Agent(empty)");
    await offer.getByRole("radio", { name: "Fill it down" }).click();
    await expect.poll(() => second.textContent()).toContain("AgentBob Stone");
    await takeScreenshot(page, "upload-fill-down");
    expect(await accessibilityFindings(page)).toEqual([]);
    await confirmColumns(page);
    await page.getByRole("button", { name: "Run a trial" }).click();
    await page.getByRole("button", { name: "Import 6, leave out 2" }).click();
    await page.getByText("Import finished.").waitFor();
    expect([await count(page, "created"), await count(page, "failed")]).toEqual(["6", "0"]);
    const owners = await Promise.all(
      ["fill-01", "fill-03", "fill-12"].map(async (id) => {
        const response = await fetch(`${site.stack.baseUrl}/v1/work_items?external_id=${id}`, {
          headers: { authorization: `Bearer ${site.stack.apiKey}` },
        });
        return ((await response.json()) as { data: { agent: { name: string } }[] }).data.map(({ agent }) => agent.name);
      }),
    );
    expect(owners).toEqual([["Bob Stone"], ["Bob Stone"], ["Dupont, Chloé"]]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("asks whether to import rows that a workbook hides", async () => {
    const { page, complaints } = await site.begin();
    const rows = [["Ticket ID", "Status"], ...["1", "2", "3"].map((id) => [`hidden-${id}`, "Open"])];
    await chooseFile(page, "filtered.xlsx", makeWorkbook({ Cases: rows }, { hidden: [3, 4] }));
    const question = page.getByRole("group", { name: "2 rows are hidden in the workbook. Import them too?" });
    await question.waitFor();
    expect(await page.getByRole("heading", { name: "2. Match your columns" }).count()).toBe(0);
    await takeScreenshot(page, "upload-hidden-rows");
    expect(await accessibilityFindings(page)).toEqual([]);
    await question.getByRole("radio", { name: "Leave out hidden rows" }).click();
    await confirmColumns(page);
    await page.getByRole("button", { name: "Run a trial" }).click();
    await expect.poll(() => count(page, "would be created")).toBe("1");
    await open(page, "1. File");
    expect(await question.getByRole("radio", { name: "Leave out hidden rows" }).isChecked()).toBe(true);
    await question.getByRole("radio", { name: "Import all rows" }).click();
    await page.getByRole("button", { name: "Continue", exact: true }).click();
    await confirmColumns(page);
    await page.getByRole("button", { name: /^Run / }).click();
    await expect.poll(() => count(page, "would be created")).toBe("3");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("works, and keeps the digits of numbers, in a browser whose JSON loses them", async () => {
    const { page, complaints } = await site.begin("", WITHOUT_JSON_SOURCES);
    const rows = [
      "older-1,Closed,call,Ann,2024-03-04T10:00:00Z,Printer,12345678901234567890.5",
      "older-2,Open,call,Ben,,Mouse,7",
    ];
    await chooseFile(
      page,
      "older.csv",
      Buffer.from(`ID,Status,Type,Agent,Closed at,Subject,Account\n${rows.join("\n")}\n`),
    );
    await confirmColumns(page);
    await importTried(page);
    await page.getByRole("link", { name: "View its items" }).click();
    await page.getByRole("link", { name: "older-1", exact: true }).click();
    await page.getByRole("heading", { name: "Printer" }).waitFor();
    expect((await page.locator(".facts").allTextContents()).join()).toContain("12345678901234567890.5");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("posts a large file to the bucket, and continues with its job after it was closed", async () => {
    const { page, complaints } = await site.begin();
    const rows = Array.from({ length: 300 }, (_, index) => `large-${index},${"x".repeat(14_000)}`);
    await chooseFile(page, "large.csv", Buffer.from(`external_id,note\n${rows.join("\n")}\n`));
    const posted = page.waitForRequest(
      (request) => request.url().startsWith(site.origins[1]!) && request.method() === "POST",
    );
    await confirmColumns(page);
    await page.getByRole("button", { name: "Run a trial" }).click();
    await posted;
    await page.waitForURL(/#job=/);
    const [, place] = page.url().split("#");
    await page.context().close();
    expect(complaints).toEqual([]);

    const again = await site.begin(`#${place}`);
    await again.page.getByText("Nothing was saved").waitFor({ timeout: 120_000 });
    expect(await count(again.page, "would be created")).toBe("300");
    expect(again.complaints).toEqual([]);
    await again.page.context().close();
  });

  test("cancels a job that is open", async () => {
    const asked = await fetch(`${site.stack.baseUrl}/v1/work_items/upload`, {
      method: "POST",
      headers: { authorization: `Bearer ${site.stack.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ upload: { filename: "waiting.csv", size: 100 } }),
    });
    const { data } = (await asked.json()) as { data: { id: string } };
    const { page, complaints } = await site.begin(`#job=${data.id}`);
    await page.getByText("waiting.csv is waiting to start.").waitFor();
    await page.getByText("Counting rows…").waitFor();
    expect(await page.getByRole("progressbar", { name: "Rows processed" }).count()).toBe(1);
    await look(page, "running");
    // As if workers still finished rows of a large file.
    await page.route(`**/upload/${data.id}`, async (route) => {
      const response = await route.fetch({ method: "GET" });
      const { data: job } = (await response.json()) as { data: object };
      const json = { data: { ...job, status: "processing", total_rows: 120_000, succeeded_rows: 54_000 } };
      await route.fulfill({ json, headers: { ...response.headers(), "retry-after": "30" } });
    });
    await page.getByText("54,000 of 120,000 rows").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("At most 8,000 rows that were started are finished first, 0 so far.").waitFor();
    expect(await page.getByRole("button", { name: "Stopping…" }).count()).toBe(1);
    await page.unrouteAll({ behavior: "wait" });
    await page.getByText("Import cancelled.").waitFor({ timeout: 10_000 });
    expect(await page.locator(":focus").textContent()).toContain("Import cancelled.");
    expect(await page.getByRole("button", { name: "Cancel" }).count()).toBe(0);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("keeps what was changed about the columns while a trial ran", async () => {
    const { page, complaints } = await site.begin();
    const hasEnded = Promise.withResolvers<void>();
    await page.route("**/v1/work_items/upload/*", async (route) => hasEnded.promise.then(() => route.continue()));
    await chooseFile(page, "slow.csv", Buffer.from("id,kind\nslow-1,call\n"));
    await confirmColumns(page);
    await page.getByRole("button", { name: "Run a trial" }).click();
    await page.waitForURL(/#job=/);
    await open(page, "2. Match");
    await open(page, "More settings");
    await page.getByLabel("Empty cells").selectOption("clear");
    await page.goBack();
    hasEnded.resolve();
    await page.getByText("Nothing was saved").waitFor();
    await page.getByRole("heading", { name: "Values in 1 row" }).waitFor();
    await open(page, "2. Match");
    // The form is still open.
    expect(await page.getByLabel("Empty cells").inputValue()).toBe("clear");
    expect(await page.getByRole("button", { name: "Run a trial" }).count()).toBe(1);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("makes one job of a request whose response was lost, and says what to do when the key is revoked", async () => {
    const { page } = await site.begin();
    await chooseFile(page, "lost.csv", Buffer.from("id\nlost-1\n"));
    await confirmColumns(page);
    await page.getByRole("button", { name: "Run a trial" }).click();
    const importing = page.getByRole("button", { name: "Import 1 row" });
    await importing.waitFor();
    // The page repeats a request by itself.
    let isLost = true;
    await page.route("**/v1/work_items/upload", async (route) => {
      if (!isLost) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await importing.click();
    await page.getByText("The service can’t be reached").waitFor();
    isLost = false;
    await importing.click();
    await page.getByText("Import finished.").waitFor();
    await page.getByRole("link", { name: "Imports" }).click();
    await page.getByRole("link", { name: "lost.csv" }).first().waitFor();
    expect(await page.getByRole("link", { name: "lost.csv" }).count()).toBe(1);

    await page.route("**/v1/work_items/upload/*", (route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: "Bearer wi_us_revoked" } }),
    );
    await page.getByRole("link", { name: "lost.csv" }).click();
    await page.getByText("Try another key. Imports already running will continue.").waitFor();
    await page.context().close();
  });

  test("says one sentence for a wrong key, an empty file, an old workbook and a lost connection", async () => {
    const { page } = await openPage(site.browser, site.origins);
    await page.goto(`${site.stack.baseUrl}/upload/`);
    await page.getByLabel("Your organization’s API key").fill("wi_us_wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("This key isn’t valid").waitFor();
    await page.context().close();

    const opened = await site.begin();
    const alert = opened.page.getByRole("alert");
    await chooseFile(opened.page, "empty.csv", Buffer.alloc(0));
    await alert.getByText("This file is empty.").waitFor();
    await chooseFile(opened.page, "old.xls", Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1]));
    await alert.getByText("This is an old Excel workbook (.xls)").waitFor();
    await chooseFile(opened.page, "files.zip", Buffer.from("PK\u0003\u0004...items.csv"));
    await alert.getByText("This is a ZIP file; upload the CSV file in it.").waitFor();
    await chooseFile(opened.page, "scan.csv", Buffer.from("\u0089PNG\r\n\u001a\n....", "latin1"));
    await alert.getByText(/picture/).waitFor();
    await chooseFile(opened.page, "header.csv", Buffer.from("id,kind\n"));
    await opened.page.getByText("This file has no rows.").waitFor();
    await chooseFile(opened.page, "quote.csv", Buffer.from('id,size\na,"7\nb,8\n'));
    // It comes before the questions, which no one needs to answer yet.
    await opened.page
      .locator("#columns + [role=status]", { hasText: "Row 2: a quote is opened and never closed; close it" })
      .waitFor();
    expect(await opened.page.getByRole("button", { name: "Run a trial" }).isDisabled()).toBe(true);
    await chooseFile(opened.page, "long.csv", Buffer.from(`id,note\na,${"y".repeat(HEAD_BYTES)}\n`));
    await confirmColumns(opened.page);
    await opened.page.getByText("1 of the first 1 row would fail: ").waitFor();
    await chooseFile(opened.page, "few.csv", Buffer.from("id\noffline-1\n"));
    await opened.page.getByText("few.csv").first().waitFor();
    await confirmColumns(opened.page);
    await opened.page.context().setOffline(true);
    await opened.page.getByRole("button", { name: "Run a trial" }).click();
    await alert.getByText("The connection was lost").waitFor();
    expect(await alert.allTextContents()).toContainEqual(expect.stringContaining("A trial run saves nothing"));
    await opened.page.context().setOffline(false);
    await opened.page.getByRole("button", { name: "Run a trial" }).click();
    await opened.page.getByText("Nothing was saved").waitFor();
    await opened.page.context().close();
  });

  test("says so when a file changes on the disk while it is open, and takes it again", async () => {
    const { page, complaints } = await site.begin();
    const path = join(mkdtempSync(join(tmpdir(), "upload-page-")), "saved.csv");
    const alert = page.getByRole("alert");
    const reopen = async (text: string): Promise<void> => {
      writeFileSync(path, text);
      const [chooser] = await Promise.all([
        page.waitForEvent("filechooser"),
        page.getByText("Choose a file", { exact: true }).click(),
      ]);
      await chooser.setFiles(path);
      await page.getByRole("heading", { name: "2. Match your columns" }).waitFor();
      await open(page, "1. File");
      writeFileSync(path, `${text}saved again\n`);
    };
    await reopen("id,kind\na,b\nc,d\n");
    await page.getByLabel("Header", { exact: true }).selectOption("2");
    await alert.getByText("This file has changed or is gone. Choose it again.").waitFor();
    await reopen("id,kind\na,b\nc,d\ne,f\n");
    await page.getByLabel("Columns are separated by").selectOption(";");
    await alert.getByText("This file has changed or is gone. Choose it again.").waitFor();
    await reopen("id,kind\na,b\nc,d\ne,f\ng,h\n");
    expect(await page.getByText("Choose it again").count()).toBe(0);
    await open(page, "2. Match");
    await confirmColumns(page);
    await page.getByRole("button", { name: "Run a trial" }).click();
    await alert.getByText("This file has changed or is gone. Choose it again.").waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
