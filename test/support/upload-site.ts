import type { Browser, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { accessibilityFindings, openPage, SCREENS, startBrowser, takeScreenshot, type WatchedPage } from "./browser.ts";
import { startTestService, type TestService } from "./local-service.ts";

/** The import page of a local service, in a browser. */
export interface UploadSite {
  readonly stack: TestService;
  readonly browser: Browser;
  /** Those that the page may send requests to: the service and its bucket. */
  readonly origins: readonly string[];
  /**
   * Opens the page and gives it the key.
   * @param place what stands after `#` in its address
   * @param before a script that runs before those of the page
   */
  readonly begin: (place?: string, before?: string) => Promise<WatchedPage>;
  readonly stop: () => Promise<void>;
}

export async function startUploadSite(): Promise<UploadSite> {
  const [stack, browser] = await Promise.all([startTestService(), startBrowser()]);
  const response = await fetch(`${stack.baseUrl}/upload`);
  const [, bucket = ""] = /connect-src 'self' (\S+);/.exec(response.headers.get("content-security-policy") ?? "") ?? [];
  const origins = [stack.baseUrl, bucket];
  return {
    stack,
    browser,
    origins,
    begin: async (place = "", before = "") => {
      const opened = await openPage(browser, origins, SCREENS.desktop);
      await opened.page.addInitScript(before);
      await opened.page.goto(`${stack.baseUrl}/upload${place}`);
      await opened.page.getByLabel("Your organization’s API key").fill(stack.apiKey);
      await opened.page.getByRole("button", { name: "Continue" }).click();
      await opened.page.getByRole("navigation", { name: "Sections" }).waitFor();
      return opened;
    },
    stop: async () => {
      await browser.close();
      await stack.stop();
    },
  };
}

/** Chooses a file as the browser's own dialog does. */
export async function chooseFile(page: Page, name: string, buffer: Buffer): Promise<void> {
  await page.locator('input[type="file"]').setInputFiles({ name, mimeType: "application/octet-stream", buffer });
}

/** What a column of the chosen file becomes. */
export async function becomes(page: Page, column: string): Promise<string> {
  await openColumn(page, column);
  return page.getByLabel(`“${column}” becomes`).inputValue();
}

/** A line of the match step, such as “Agent”, while its form isn't open. */
export function lineOf(page: Page, name: string): Locator {
  return page.getByRole("list", { name: "What the import sets" }).locator("> li > button", {
    has: page.locator("b", { hasText: new RegExp(`^${name}$`) }),
  });
}

/** Opens the form of a line, to change what the import does with it. */
export async function openTarget(page: Page, name: string): Promise<Locator> {
  await page.getByRole("heading", { name: "2. Match your columns" }).waitFor();
  const line = lineOf(page, name);
  if ((await line.count()) > 0) await line.click();
  const form = page.locator(".strip > .open");
  const other = form.getByRole("radio", { name: "Something else…" });
  if ((await other.count()) > 0) await other.click();
  return form;
}

/** The IDs of the first rows, as the items that they would become. */
export function firstIds(page: Page): Promise<string[]> {
  return page
    .getByRole("region", { name: "The first rows, as items" })
    .getByRole("heading", { level: 4 })
    .allTextContents();
}

/** Answers the open questions about what the import sets: likely columns are right, times are in UTC, others stay empty. */
export async function confirmColumns(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "2. Match your columns" }).waitFor();
  const left = page.getByText(/^\d+ questions? left$/);
  const form = page.locator(".strip form");
  for (; (await left.count()) > 0; await page.evaluate("new Promise(requestAnimationFrame)")) {
    expect(await form.count()).toBe(1);
    const answers = form.getByRole("radio");
    const zones = form.getByRole("radio", { name: "UTC" });
    const isAnswered = (await page.locator(".strip > .open:not(.asked)").count()) > 0;
    if (isAnswered) await form.getByRole("button", { name: "Next" }).click();
    else if ((await zones.count()) > 0) await zones.last().click();
    else if ((await form.getByText(/^No column’s name/).count()) > 0)
      await form.getByRole("radio", { name: /^(Leave empty|Use the default)/ }).click();
    else if ((await answers.count()) > 0) await answers.first().click();
    else await form.getByRole("button", { name: "Next" }).click();
  }
}

/** Imports the file whose columns are matched, after a trial. */
export async function importTried(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Run a trial" }).click();
  await page.getByRole("button", { name: /^Import \d/ }).click();
  await page.getByText("Import finished.").waitFor();
}

/** Opens what a column becomes and how it is read. */
export async function openColumn(page: Page, column: string): Promise<void> {
  const others = lineOf(page, "Other columns");
  if ((await others.count()) > 0) await others.click();
  const field = page.getByLabel(`“${column}” becomes`);
  await field.evaluate((element) => {
    const details = element.closest("details");
    if (details) details.open = true;
  });
  await field.waitFor();
}

/** Opens a line of the steps, or something that is folded. */
export async function open(page: Page, text: string | RegExp): Promise<void> {
  await page.locator("button.step, summary", { hasText: text }).first().click();
}

/** Drops a file where files are chosen. */
export async function dropFile(page: Page, name: string, bytes: Buffer): Promise<void> {
  const dropped = await page.evaluateHandle(
    `(() => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob("${bytes.toString("base64")}"), (c) => c.charCodeAt(0))], "${name}"));
      return data;
    })()`,
  );
  await page.dispatchEvent(".drop", "drop", { dataTransfer: dropped });
}

/** Presses Tab until the focus is on an element with a role and a name. */
export async function tabTo(page: Page, role: "button" | "link", name: string | RegExp): Promise<void> {
  const aim = page.getByRole(role, { name, exact: true }).and(page.locator(":focus"));
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    if ((await aim.count()) > 0) return;
  }
  throw new Error(`no way to ${String(name)} by keyboard`);
}

/** A counter of the job that the page shows, which leaves out those of zero. */
export async function count(page: Page, name: string): Promise<string> {
  await page.locator(".counts").waitFor();
  const shown = page.locator(".counts div", { hasText: new RegExp(`^${name}`) }).locator("dd");
  return (await shown.allTextContents())[0] ?? "0";
}

/** Tickets of a help desk in Windows-1252, with semicolons and decimal commas. One date isn't a date. */
export const TICKETS = Buffer.from(
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

/** Imports a file with the demo organization's key, and waits for the end. @returns the ID of its job */
export async function importAndWait(
  { baseUrl, apiKey }: TestService,
  {
    name,
    csv,
    dryRun = false,
    mapping,
  }: { readonly name: string; readonly csv: string; readonly dryRun?: boolean; readonly mapping?: object },
): Promise<string> {
  const url = `${baseUrl}/v1/work_items/upload`;
  const headers = { authorization: `Bearer ${apiKey}` };
  const form = new FormData();
  form.set("upload[dry_run]", String(dryRun));
  if (mapping) form.set("upload[mapping]", JSON.stringify(mapping));
  form.set("upload[file]", new Blob([csv], { type: "text/csv" }), name);
  const read = async (response: Response): Promise<{ readonly id: string; readonly status: string }> =>
    ((await response.json()) as { data: { id: string; status: string } }).data;
  const { id } = await read(await fetch(url, { method: "POST", headers, body: form }));
  await expect
    .poll(async () => (await read(await fetch(`${url}/${id}`, { headers }))).status, { timeout: 60_000 })
    .toBe("completed");
  return id;
}

/** Pictures of a view on all kinds of screens, and what is inaccessible in them. */
export async function look(page: Page, name: string): Promise<void> {
  expect(await accessibilityFindings(page)).toEqual([]);
  await takeScreenshot(page, name);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await accessibilityFindings(page, "colours")).toEqual([]);
  await takeScreenshot(page, `${name}-dark`);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(SCREENS.phone.viewport);
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  await takeScreenshot(page, `${name}-phone`);
  await page.setViewportSize(SCREENS.desktop.viewport);
}
