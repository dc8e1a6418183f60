import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalStack } from "../../../infra/local/stack.ts";
import {
  accessibilityFindings,
  hasBrowser,
  openPage,
  SCREENS,
  startBrowser,
  takeScreenshot,
} from "../../support/browser.ts";
import { startLocalService } from "../../support/local-service.ts";
import { makeWorkbook } from "../../support/workbook.ts";

let stack: LocalStack;
let browser: Browser;
let origins: string[];

/** The page with the key given. @param place what stands after `#` in its address */
const begin = async (place = "", options: Parameters<typeof openPage>[2] = SCREENS.desktop) => {
  const opened = await openPage(browser, origins, options);
  await opened.page.goto(`${stack.baseUrl}/upload${place}`);
  await opened.page.getByLabel("Your organization’s API key").fill(stack.apiKey);
  await opened.page.getByRole("button", { name: "Continue" }).click();
  await opened.page.getByRole("navigation", { name: "Sections" }).waitFor();
  return opened;
};
const chooseFile = (page: Page, name: string, buffer: Buffer) =>
  page.locator('input[type="file"]').setInputFiles({ name, mimeType: "application/octet-stream", buffer });

/** What a column of the chosen file becomes. */
const becomes = (page: Page, column: string): Promise<string> => page.getByLabel(`“${column}” becomes`).inputValue();

/** Says of all columns whose meaning is only likely that they are right. */
const confirmColumns = async (page: Page): Promise<void> => {
  const buttons = page.getByRole("button", { name: /^Looks right:/ });
  while ((await buttons.count()) > 0) await buttons.first().click();
};

/** Drops a file where files are chosen. */
const dropFile = async (page: Page, name: string, bytes: Buffer): Promise<void> => {
  const dropped = await page.evaluateHandle(
    `(() => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob("${bytes.toString("base64")}"), (c) => c.charCodeAt(0))], "${name}"));
      return data;
    })()`,
  );
  await page.dispatchEvent(".drop", "drop", { dataTransfer: dropped });
};

/** Presses Tab until the focus is on the element with a role and a name. */
const tabTo = async (page: Page, role: "button" | "link", name: string): Promise<void> => {
  const aim = page.getByRole(role, { name, exact: true });
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    if (await aim.evaluate((element) => element.matches(":focus"))) return;
  }
  throw new Error(`no way to ${name} by keyboard`);
};

const count = async (page: Page, name: string): Promise<string> =>
  (await page
    .locator(".counts div", { hasText: new RegExp(`^${name}`) })
    .locator("dd")
    .textContent()) ?? "";

/** A job, as the service shows it. */
const readJob = async (id: string): Promise<object> => {
  const response = await fetch(`${stack.baseUrl}/v1/work_items/upload/${id}`, {
    headers: { authorization: `Bearer ${stack.apiKey}` },
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

/** Tickets of a help desk in Windows-1252, with semicolons and decimal commas. One date is no date. */
const TICKETS = Buffer.from(
  [
    "Ticket ID;Status;Closed at;Assignee email;Team;Hours",
    ...Array.from({ length: 30 }, (_, index) => {
      const isOpen = index % 3 === 0;
      const closed = index === 4 ? "someday" : isOpen ? "" : `${10 + (index % 18)}/06/2023 12:15`;
      const hours = index === 1 ? "12345678901234567890,5" : `${index},5`;
      return `page-${index};${isOpen ? "Open" : "Closed"};${closed};agent${index % 4}@example.com;Zürich${index % 2};${hours}`;
    }),
    "",
  ].join("\r\n"),
  "latin1",
);

describe.skipIf(!hasBrowser)("the upload page in a browser", () => {
  beforeAll(async () => {
    [stack, browser] = await Promise.all([startLocalService(), startBrowser()]);
    const response = await fetch(`${stack.baseUrl}/upload`);
    const [, bucket = ""] =
      /connect-src 'self' (\S+);/.exec(response.headers.get("content-security-policy") ?? "") ?? [];
    origins = [stack.baseUrl, bucket];
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  test("takes another system's file from its first rows to items that can be looked at", async () => {
    const { page, complaints } = await begin();
    await dropFile(page, "tickets.csv", TICKETS);
    await page.getByLabel("Encoding", { exact: true }).waitFor();
    expect(await page.getByLabel("Encoding", { exact: true }).inputValue()).toBe("windows-1252");
    expect(await page.getByLabel("Columns are separated by").inputValue()).toBe(";");
    expect(await becomes(page, "Ticket ID")).toBe("external_id");
    expect(await page.getByLabel("“Open” means").inputValue()).toBe("pending");
    expect(await page.getByLabel("“Closed” means").inputValue()).toBe("completed");
    expect(await becomes(page, "Assignee email")).toBe("agent_email");
    expect(await becomes(page, "Team")).toBe("kept");
    expect(await page.getByLabel(/^Date format/).inputValue()).toBe("dd/MM/yyyy HH:mm");
    await page.locator(".misfit", { hasText: '1 row of the first 30 doesn’t fit: "someday"' }).waitFor();
    await page.getByLabel("Time zone (for dates without one)").fill("Europe/Berlin");
    await page.getByLabel("Type of “Hours”").selectOption("number");
    await page.getByText("30 of the first 30 rows would fail").waitFor();
    await page.getByLabel("Decimal mark of numbers").selectOption(",");
    const failing = page.getByRole("region", { name: "Rows that would fail" });
    expect(await failing.textContent()).toContain("someday");
    expect(await failing.locator("tbody tr").count()).toBe(1);
    await takeScreenshot(page, "upload-mapping");
    expect(await accessibilityFindings(page)).toEqual([]);

    await page.getByRole("button", { name: "Run a trial" }).click();
    await page.getByText("Nothing was saved").waitFor();
    expect(await count(page, "would be created")).toBe("29");
    expect(await count(page, "would fail")).toBe("1");
    await page.getByRole("region", { name: /failed rows/ }).waitFor();
    await takeScreenshot(page, "upload-tried");
    expect(await accessibilityFindings(page)).toEqual([]);

    await page.getByRole("button", { name: "Import now" }).click();
    await page.getByRole("heading", { name: "Import of tickets.csv" }).waitFor();
    await page.getByText("Import finished.").waitFor();
    expect(await count(page, "created")).toBe("29");
    const failed = page.getByRole("region", { name: /failed rows/ });
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
    await page.getByText("The first row has no errors.").waitFor();
    await page.evaluate(KEEP_SENT_MAPPINGS);
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("Import finished.").waitFor();
    expect(await page.evaluate<string[]>("sentMappings")).toEqual([JSON.stringify({ from: before })]);
    expect([await count(page, "created"), await count(page, "failed")]).toEqual(["1", "0"]);
    const [, id = ""] = page.url().split("#job=");
    expect(await readJob(id)).toMatchObject({ mapping: { decimal: ",", delimiter: ";" } });
    await page.getByRole("link", { name: "Import a file" }).click();
    await page.getByRole("button", { name: "Use a proposal instead" }).click();
    // The page shows a frame before its effects run.
    await expect.poll(() => page.getByLabel("Decimal mark of numbers").inputValue()).toBe(".");

    await page.getByRole("link", { name: "Imports" }).click();
    await page.getByRole("region", { name: "Imports, newest first" }).waitFor();
    expect(await page.locator("tbody tr").filter({ hasText: "tickets.csv" }).count()).toBeGreaterThanOrEqual(2);
    expect(await page.locator("tbody tr").first().textContent()).toContain("local");
    expect(await accessibilityFindings(page)).toEqual([]);

    await page.getByRole("link", { name: "Items", exact: true }).click();
    const filters = page.getByRole("form", { name: "Filters" });
    await filters.getByLabel("Agent’s email").fill("agent1@example.com");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    const items = page.getByRole("region", { name: "Items" });
    await expect.poll(() => items.locator("tbody tr").count()).toBe(8);
    expect(page.url()).toMatch(/#items\?agent_email=agent1%40example\.com$/);
    await takeScreenshot(page, "upload-items");
    expect(await accessibilityFindings(page)).toEqual([]);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export as CSV" }).click(),
    ]);
    const exported = readFileSync(await download.path(), "utf8")
      .trimEnd()
      .split("\n");
    expect(exported).toHaveLength(9);
    expect(exported[0]).toBe(
      "\uFEFFexternal_id,agent_email,agent_name,agent_external_id,type,status,completed_at,custom_attributes",
    );
    const one = exported.find((line) => line.startsWith("page-1,"));
    expect(one).toContain('"{""Hours"":12345678901234567890.5,""Team"":""Zürich1""}"');
    expect(one).toContain("completed,2023-06-11T10:15:00.000Z");

    await page.getByRole("link", { name: "page-1", exact: true }).click();
    await page.getByRole("heading", { name: "page-1" }).waitFor();
    expect(await page.locator(".facts").textContent()).toContain("Zürich1");
    await page.goBack();
    await expect.poll(() => items.locator("tbody tr").count()).toBe(8);
    expect(await filters.getByLabel("Agent’s email").inputValue()).toBe("agent1@example.com");

    await page.getByRole("button", { name: "Remove key" }).click();
    expect(await page.getByLabel("Your organization’s API key").inputValue()).toBe("");
    expect(await page.locator("main").textContent()).not.toContain("Zürich1");
    const kept = "JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])";
    expect(await page.evaluate<string>(kept)).not.toContain(stack.apiKey);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("asks for a look at what is only likely, and whether the day or the month comes first", async () => {
    const { page, complaints } = await begin();
    const rows = Array.from(
      { length: 12 },
      (_, index) => `guess-${index};0${(index % 9) + 1}/0${(index % 7) + 1}/2025`,
    );
    const file = ["Closed tickets of June;;;;", ";;;;", "ID;Closed;Email;Note;Note"];
    const lines = rows.map((row, index) => `${row};ann@example.com;first ${index};second ${index}`);
    await chooseFile(page, "guess.csv", Buffer.from([...file, ...lines, ""].join("\n")));
    await page.getByLabel("Header", { exact: true }).waitFor();
    expect(await page.getByLabel("Header", { exact: true }).inputValue()).toBe("3");
    expect(await becomes(page, "Note")).toBe("kept");
    expect(await becomes(page, "Note (2)")).toBe("kept");
    expect(await becomes(page, "Email")).toBe("agent_email");
    const importing = page.getByRole("button", { name: "Import", exact: true });
    expect(await importing.isDisabled()).toBe(true);
    const question = page.getByRole("group", { name: /^Which date is “0\d\/0\d\/2025”/ });
    await question.waitFor();
    await page.getByLabel("“Note (2)” becomes").selectOption("left out");
    await page.getByText("Left out: this column isn’t imported.").waitFor();
    await takeScreenshot(page, "upload-likely");
    expect(await accessibilityFindings(page)).toEqual([]);
    await page
      .getByRole("group", { name: /^Which date is/ })
      .getByRole("radio")
      .last()
      .check();
    await page.getByRole("button", { name: "Looks right: “Email”" }).click();
    await page.getByText("✓ Checked by you").first().waitFor();
    await confirmColumns(page);
    await importing.click();
    await page.getByText("Import finished.").waitFor();
    expect([await count(page, "created"), await count(page, "failed")]).toEqual(["12", "0"]);
    const [, id = ""] = page.url().split("#job=");
    expect(await readJob(id)).toMatchObject({ mapping: { header_row: 3 } });
    await page.getByRole("link", { name: "Items", exact: true }).click();
    await page.getByRole("link", { name: "guess-1", exact: true }).click();
    await page.getByRole("heading", { name: "guess-1" }).waitFor();
    const facts = (await page.locator(".facts").textContent()) ?? "";
    expect(facts).toContain("first 1");
    expect(facts).not.toContain("second 1");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("offers a prefix when a trial of another system's file would change items, and names repeated IDs", async () => {
    const { page, complaints } = await begin();
    await chooseFile(page, "tickets.csv", Buffer.from("external_id,status\n1002,pending\n"));
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("Import finished.").waitFor();
    await page.getByRole("link", { name: "Import a file" }).click();
    await chooseFile(
      page,
      "orders.csv",
      Buffer.from("Order ID,Status,Size\n1002,Open,2\n1003,Open,3\n1003,Closed,4\n"),
    );
    await page.getByLabel("“Order ID” becomes").waitFor();
    await page.getByLabel("“Order ID” becomes").selectOption("external_id");
    await confirmColumns(page);
    await page.getByRole("button", { name: "Run a trial" }).click();
    await page.getByText("This file would change 1 item that already exists.").waitFor();
    const repeated = page.getByRole("region", { name: "Rows that repeat an ID" });
    expect(await repeated.locator("tbody").textContent()).toBe("410033");
    await takeScreenshot(page, "upload-prefix");
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await page.getByLabel("Prefix for IDs").inputValue()).toBe("orders-");
    await page.getByRole("button", { name: "Run the trial again with this prefix" }).click();
    await expect.poll(() => count(page, "would be created")).toBe("2");
    await page.getByRole("button", { name: "Import now" }).click();
    await page.getByRole("heading", { name: "Import of orders.csv" }).waitFor();
    await page.getByText("Import finished.").waitFor();
    await page.getByRole("link", { name: "Items", exact: true }).click();
    await page.getByRole("link", { name: "orders-1002", exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "1002", exact: true }).count()).toBe(1);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("keeps the key through a reload of the tab if the person wants that, and names its views in the tab", async () => {
    const { page } = await openPage(browser, origins);
    await page.goto(`${stack.baseUrl}/upload`);
    await page.getByLabel("Your organization’s API key").fill(stack.apiKey);
    await page.getByLabel("Keep the key when I reload this tab").check();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("link", { name: "Imports" }).click();
    await expect.poll(() => page.title()).toBe("Imports · Work items");
    await page.reload();
    await page.getByRole("region", { name: "Imports, newest first" }).waitFor();
    await page.getByRole("button", { name: "Remove key" }).click();
    await page.reload();
    await page.getByLabel("Your organization’s API key").waitFor();
    await page.context().close();
  });

  test("makes events of a log's rows, in UTF-16, and shows them as a timeline", async () => {
    const { page, complaints } = await begin();
    const log = [
      "number\tstate\tmod\tupdated_by\tupdated_at",
      "INC1\tNew\t0\tAnn\t2026-03-01 09:00",
      "INC1\tClosed\t1\tBen\t2026-03-01 11:00",
      "",
    ].join("\n");
    await chooseFile(page, "log.txt", Buffer.from(`\uFEFF${log}`, "utf16le"));
    expect(await page.getByLabel("Encoding", { exact: true }).inputValue()).toBe("utf-16le");
    expect(await page.getByLabel("Columns are separated by").inputValue()).toBe("\t");
    await page.getByLabel(/^This file is a change log/).check();
    expect(await page.getByRole("status").allTextContents()).toContainEqual(
      expect.stringContaining("event.external_id"),
    );
    await page.getByLabel("Unique ID of the event (required)").selectOption("number");
    await page.getByLabel("Together with").selectOption("mod");
    await page.getByLabel("Happened at").selectOption("updated_at");
    await page.getByLabel("What happened").selectOption("state");
    await page.getByLabel("Actor’s name").selectOption("updated_by");
    await confirmColumns(page);
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("Import finished.").waitFor();
    expect(await count(page, "failed")).toBe("0");
    await page.getByRole("link", { name: "Items", exact: true }).click();
    await page.getByRole("link", { name: "INC1" }).click();
    const events = page.locator(".timeline li");
    await events.first().waitFor();
    expect(await events.allTextContents()).toEqual([
      expect.stringMatching(/New.*Ann · INC1-0/s),
      expect.stringMatching(/Closed.*Ben · INC1-1/s),
    ]);
    await takeScreenshot(page, "upload-item");
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("corrects failed values of a trial in the page, by keyboard, and imports the corrected rows", async () => {
    const { page, complaints } = await begin();
    const rows = Array.from({ length: 30 }, (_, index) => {
      const closed = index % 10 === 5 ? `soon ${index}` : "2026-03-01T09:00:00Z";
      const email = index === 15 ? "nobody" : "ann@example.com";
      return `repair-${index},${closed},${email},"note; with ""quotes"",\r\nand lines ${index}"`;
    });
    await chooseFile(page, "repair.csv", Buffer.from(`ID,Closed at,Assignee email,Note\r\n${rows.join("\r\n")}\r\n`));
    await confirmColumns(page);
    await page.getByRole("button", { name: "Run a trial" }).click();
    await page.getByText("Correct 3 values here").waitFor();
    const cells = page.getByRole("region", { name: "Values to correct" }).getByRole("textbox");
    expect(await cells.evaluateAll((all) => all.map((one) => (one as { ariaLabel?: string }).ariaLabel))).toEqual([
      "Row 7, Closed at",
      "Row 17, Closed at",
      "Row 27, Closed at",
    ]);
    expect(await accessibilityFindings(page)).toEqual([]);
    await tabTo(page, "link", "row 7");
    // The row of the second value has a second error, which shows once the first is corrected.
    const values = ["2026-03-02T09:00:00Z", "2026-03-03T09:00:00Z", "ben@example.com", "2026-03-04T09:00:00Z"];
    for (const value of values) {
      const next = page.getByRole("link", { name: /^row \d+$/ }).first();
      await next.focus();
      await page.keyboard.press("Enter");
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.type(value);
    }
    await page.getByText("4 values corrected.").waitFor();
    await takeScreenshot(page, "upload-repaired");
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Import now with 3 corrected rows" }).click();
    await page.getByText("Import finished.").waitFor();
    expect([await count(page, "created"), await count(page, "failed")]).toEqual(["30", "0"]);
    await page.getByRole("link", { name: "Items", exact: true }).click();
    await page.getByRole("link", { name: "repair-15", exact: true }).click();
    await page.getByRole("heading", { name: "repair-15" }).waitFor();
    const facts = (await page.locator(".facts").textContent()) ?? "";
    expect(facts).toContain("ben@example.com");
    expect(facts).toContain('note; with "quotes",');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("reads as a tree of headings, named fields and statuses, from the file to a corrected import", async () => {
    const { page, complaints } = await begin();
    const tree = (): Promise<string> => page.locator("main").ariaSnapshot();
    /** Every control that the tree shows without a name. */
    const unnamed = async (): Promise<string[]> =>
      (await tree())
        .split("\n")
        .filter((line) => /- (button|textbox|combobox|checkbox|link|progressbar|img)(:|$| \[)/.test(line));
    expect(await tree()).toMatch(/heading "1\. Choose a file" \[level=2\]/);
    const rows = ["tree-1,Closed,2026-03-01T09:00:00Z", "tree-2,Closed,never"];
    await chooseFile(page, "tree.csv", Buffer.from(`Ticket ID,Status,Closed at\n${rows.join("\n")}\n`));
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("columns");
    const mapped = await tree();
    for (const part of [
      /heading "2\. Map your columns" \[level=2\]/,
      /heading "3\. Check and import" \[level=2\]/,
      /table "The first rows of the file"/,
      /paragraph: 1 of the first 2 rows would fail/,
      /button "Run a trial"/,
    ]) {
      expect(mapped).toMatch(part);
    }
    expect(await unnamed()).toEqual([]);
    await confirmColumns(page);
    await page.getByRole("button", { name: "Run a trial" }).click();
    await page.getByText("Correct 1 value here").waitFor();
    const tried = await tree();
    expect(tried).toMatch(/textbox "Row 3, Closed at" \[invalid\]: never/);
    expect(tried).toMatch(/link "row 3"/);
    expect(await unnamed()).toEqual([]);
    await page.getByRole("textbox", { name: "Row 3, Closed at" }).fill("2026-03-02T09:00:00Z");
    await page.getByRole("button", { name: /^Import now with 1 corrected row$/ }).click();
    await page.getByText("Import finished.").waitFor();
    expect(await tree()).toMatch(/heading "[^"]*tree\.csv[^"]*" \[level=2\]|heading "Import[^"]*" \[level=2\]/);
    expect(await unnamed()).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("works in a browser that keeps nothing, where even naming its storage fails", async () => {
    const { page, complaints } = await openPage(browser, origins);
    const forbid = (name: string): string =>
      `Object.defineProperty(globalThis, "${name}", { get() { throw new DOMException("denied", "SecurityError"); } });`;
    await page.addInitScript(`${forbid("sessionStorage")}${forbid("localStorage")}`);
    await page.goto(`${stack.baseUrl}/upload`);
    await page.getByLabel("Your organization’s API key").fill(stack.apiKey);
    await page.getByLabel("Keep the key").check();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "1. Choose a file" }).waitFor();
    await page.goto(`${stack.baseUrl}/docs/list-work-items`);
    await page.getByRole("button", { name: "Send GET" }).waitFor();
    await page.getByRole("tab", { name: "Python" }).click();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("loads the reader of workbooks only for a workbook, and lets choose the sheet", async () => {
    const { page, complaints } = await begin();
    const loaded: string[] = [];
    page.on("response", (response) => loaded.push(response.url()));
    await chooseFile(page, "rows.csv", Buffer.from("id,kind\na,b\n"));
    await page.getByRole("button", { name: "Import" }).waitFor();
    expect(loaded.filter((url) => url.includes("workbook"))).toEqual([]);
    const workbook = makeWorkbook({
      Notes: [["only text"]],
      Cases: [
        ["Case Number", "Status", "Note"],
        ["sheet-1", "Resolved", 'a "quoted" note, with comma'],
        // More than is unpacked at once: its reader would start a worker, which the page's policy forbids.
        ...Array.from({ length: 40 }, (_, row) => [`sheet-${row + 2}`, "New", `${"Ünïcode ".repeat(2000)}${row}`]),
      ],
    });
    await chooseFile(page, "cases.xlsx", workbook);
    await page.getByLabel("Sheet").selectOption("Cases");
    expect(await becomes(page, "Case Number")).toBe("external_id");
    expect(loaded.filter((url) => url.includes("workbook"))).toHaveLength(1);
    await confirmColumns(page);
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("Import finished.").waitFor();
    expect([await count(page, "created"), await count(page, "failed")]).toEqual(["41", "0"]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("posts a large file to the bucket, and continues with its job after it was closed", async () => {
    const { page, complaints } = await begin();
    const rows = Array.from({ length: 300 }, (_, index) => `large-${index},${"x".repeat(14_000)}`);
    await chooseFile(page, "large.csv", Buffer.from(`external_id,note\n${rows.join("\n")}\n`));
    const posted = page.waitForRequest(
      (request) => request.url().startsWith(origins[1]!) && request.method() === "POST",
    );
    await confirmColumns(page);
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await posted;
    await page.waitForURL(/#job=/);
    const [, place] = page.url().split("#");
    await page.context().close();
    expect(complaints).toEqual([]);

    const again = await begin(`#${place}`);
    await again.page.getByText("Import finished.").waitFor({ timeout: 120_000 });
    expect(await count(again.page, "created")).toBe("300");
    expect(again.complaints).toEqual([]);
    await again.page.context().close();
  });

  test("cancels a job that is open", async () => {
    const asked = await fetch(`${stack.baseUrl}/v1/work_items/upload`, {
      method: "POST",
      headers: { authorization: `Bearer ${stack.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ upload: { filename: "waiting.csv", size: 100 } }),
    });
    const { data } = (await asked.json()) as { data: { id: string } };
    const { page, complaints } = await begin(`#job=${data.id}`);
    await page.getByText("waiting.csv is waiting to start.").waitFor();
    await page.getByText("0 of ? rows").waitFor();
    expect(await page.getByRole("progressbar", { name: "Rows processed" }).count()).toBe(1);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Import cancelled.").waitFor();
    expect(await page.getByRole("button", { name: "Cancel" }).count()).toBe(0);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("makes one job of a request whose response was lost, and says what to do when the key is revoked", async () => {
    const { page } = await begin();
    await chooseFile(page, "lost.csv", Buffer.from("id\nlost-1\n"));
    // The page repeats a request twice by itself.
    let lost = 3;
    await page.route("**/v1/work_items/upload", async (route) => {
      if (lost === 0) return route.continue();
      lost -= 1;
      await route.fetch();
      return route.abort();
    });
    await confirmColumns(page);
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("The service can’t be reached").waitFor();
    await page.getByRole("button", { name: "Import", exact: true }).click();
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

  test("is used with the keyboard alone", async () => {
    const { page, complaints } = await openPage(browser, origins);
    await page.goto(`${stack.baseUrl}/upload`);
    const key = page.getByLabel("Your organization’s API key");
    for (let presses = 0; presses < 20 && !(await key.evaluate((one) => one.matches(":focus"))); presses++) {
      await page.keyboard.press("Tab");
    }
    await page.keyboard.type(stack.apiKey);
    await page.keyboard.press("Enter");
    await page.getByRole("navigation", { name: "Sections" }).waitFor();
    const input = page.locator('input[type="file"]');
    for (let presses = 0; presses < 20 && !(await input.evaluate((one) => one.matches(":focus"))); presses++) {
      await page.keyboard.press("Tab");
    }
    expect(await input.evaluate((one) => one.matches(":focus"))).toBe(true);
    // The browser's own dialog is not part of the page.
    await chooseFile(page, "keys.csv", Buffer.from("Id,State\nkey-1,Open\n"));
    await page.getByRole("button", { name: "Run a trial" }).waitFor();
    await tabTo(page, "button", "Run a trial");
    await page.keyboard.press("Enter");
    await page.getByText("Nothing was saved").waitFor();
    await tabTo(page, "button", "Import now");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Import of keys.csv" }).waitFor();
    // The focus is where the new view begins.
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Import of keys.csv");
    await page.getByText("Import finished.").waitFor();
    expect(await count(page, "created")).toBe("1");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("says one sentence for a wrong key, an empty file, an old workbook and a lost connection", async () => {
    const { page } = await openPage(browser, origins);
    await page.goto(`${stack.baseUrl}/upload/`);
    await page.getByLabel("Your organization’s API key").fill("wi_us_wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("This key isn’t valid").waitFor();
    await page.context().close();

    const opened = await begin();
    const alert = opened.page.getByRole("alert");
    await chooseFile(opened.page, "empty.csv", Buffer.alloc(0));
    await alert.getByText("This file is empty.").waitFor();
    await chooseFile(opened.page, "old.xls", Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1]));
    await alert.getByText("This is an Excel workbook of the old kind (.xls)").waitFor();
    await chooseFile(opened.page, "files.zip", Buffer.from("PK\u0003\u0004...items.csv"));
    await alert.getByText("This is a ZIP file; upload the CSV file in it.").waitFor();
    await chooseFile(opened.page, "scan.csv", Buffer.from("\u0089PNG\r\n\u001a\n....", "latin1"));
    await alert.getByText(/picture/).waitFor();
    await chooseFile(opened.page, "header.csv", Buffer.from("id,kind\n"));
    await opened.page.getByText("This file has no rows.").waitFor();
    await chooseFile(opened.page, "quote.csv", Buffer.from('id,size\na,"7\nb,8\n'));
    await opened.page.getByText("Row 2: a quote is opened and never closed; close it").waitFor();
    expect(await opened.page.getByRole("button", { name: "Run a trial" }).isDisabled()).toBe(true);
    await chooseFile(opened.page, "few.csv", Buffer.from("id\noffline-1\n"));
    await opened.page.context().setOffline(true);
    await opened.page.getByRole("button", { name: "Run a trial" }).click();
    await alert.getByText("The service can’t be reached").waitFor();
    expect(await alert.textContent()).toContain("Check your connection and try again");
    await opened.page.context().setOffline(false);
    await opened.page.getByRole("button", { name: "Run a trial" }).click();
    await opened.page.getByText("Nothing was saved").waitFor();
    await opened.page.context().close();
  });

  test.each(Object.entries(SCREENS))("fits on a %s, light and dark, without a finding of axe", async (name, screen) => {
    const { page, complaints } = await openPage(browser, origins, screen);
    const check = async (state: string): Promise<void> => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await takeScreenshot(page, `upload-${state}-${name}-${colorScheme}`);
        const findings = await accessibilityFindings(page, colorScheme === "light" ? "all" : "colours");
        expect([state, colorScheme, findings]).toEqual([state, colorScheme, []]);
        expect([state, await page.evaluate("document.documentElement.scrollWidth - innerWidth")]).toEqual([state, 0]);
      }
    };
    await page.goto(`${stack.baseUrl}/upload`);
    await page.getByLabel("Your organization’s API key").fill(stack.apiKey);
    await check("key");
    await page.keyboard.press("Enter");
    await chooseFile(page, "tickets.csv", TICKETS);
    await check("file");
    await page.getByRole("button", { name: "Run a trial" }).click();
    await page.getByRole("region", { name: /failed rows/ }).waitFor();
    await check("job");
    for (const path of ["", "docs/files"]) {
      await page.goto(`${stack.baseUrl}/${path}`);
      await check(path.replace("/", "-") || "home");
    }
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
