import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createKey } from "../../../apps/operator/data/key-management.ts";
import { accessibilityFindings, hasBrowser, openPage, SCREENS, takeScreenshot } from "../../support/browser.ts";
import { administrationOf, createTestOrganization } from "../../support/organization.ts";
import {
  chooseFile,
  confirmColumns,
  count,
  importTried,
  lineOf,
  open,
  startUploadSite,
  tabTo,
  TICKETS,
  type UploadSite,
} from "../../support/upload-site.ts";

let site: UploadSite;

/** Keeps where the focus is as soon as the second step is shown: later it would move away from someone who types. */
const KEEP_FIRST_FOCUS = `
  globalThis.firstFocus = new Promise((resolve) =>
    new MutationObserver(() => {
      const heading = document.querySelector("#columns");
      if (heading && !heading.closest("[hidden]")) resolve(document.activeElement.id);
    }).observe(document.body, { attributes: true, childList: true, subtree: true }),
  );
  void 0;`;

describe.skipIf(!hasBrowser)("the import page for every person and browser", () => {
  beforeAll(async () => {
    site = await startUploadSite();
  });
  afterAll(() => site?.stop());

  test("reads as a tree of headings, named fields and statuses, from the file to a corrected import", async () => {
    const { page, complaints } = await site.begin();
    const tree = (): Promise<string> => page.locator("main").ariaSnapshot();
    /** Every control that the tree shows without a name. */
    const unnamed = async (): Promise<string[]> =>
      (await tree())
        .split("\n")
        .filter((line) => /- (button|textbox|combobox|checkbox|link|progressbar|img)(:|$| \[)/.test(line));
    expect(await tree()).toMatch(/heading "1\. Choose a file" \[level=2\]/);
    const rows = ["tree-1,Closed,2026-03-01T09:00:00Z", "tree-2,Closed,never"];
    await page.evaluate(KEEP_FIRST_FOCUS);
    await chooseFile(page, "tree.csv", Buffer.from(`Ticket ID,Status,Closed at\n${rows.join("\n")}\n`));
    expect(await page.evaluate("firstFocus")).toBe("columns");
    const mapped = await tree();
    for (const part of [
      /heading "2\. Match your columns" \[level=2\]/,
      /button "1\. File tree\.csv, \d+ bytes, 3 columns/,
      /button "Run a trial"/,
    ]) {
      expect(mapped).toMatch(part);
    }
    expect(await unnamed()).toEqual([]);
    await confirmColumns(page);
    expect(await tree()).toMatch(/paragraph: .?1 of the first 2 rows would fail/);
    await page.getByRole("button", { name: "Run a trial" }).click();
    await page.getByText("1 value doesn’t fit. Replace it").waitFor();
    expect(await tree()).toMatch(/textbox "Instead of “never” in Closed at": never/);
    expect(await unnamed()).toEqual([]);
    await page.getByLabel("Instead of “never” in Closed at").fill("2026-03-02T09:00:00Z");
    await page.getByRole("button", { name: "Import now with the corrections" }).click();
    await page.getByText("Import finished.").waitFor();
    expect(await tree()).toMatch(/heading "[^"]*tree\.csv[^"]*" \[level=2\]|heading "Import[^"]*" \[level=2\]/);
    expect(await unnamed()).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("takes the key of the address that npm start prints, removes it at once, and asks if the tab has another", async () => {
    const { runtime, baseUrl, apiKey } = site.stack;
    const { page, complaints } = await openPage(site.browser, site.origins);
    await page.goto(`${baseUrl}/upload#key=${apiKey}`);
    const sections = page.getByRole("navigation", { name: "Sections" });
    await sections.getByTitle("demo", { exact: true }).waitFor();
    const traces =
      "JSON.stringify([navigation.entries().map(({ url }) => url), localStorage, sessionStorage, document.cookie])";
    expect(await page.evaluate(traces)).not.toContain("wi_");

    const { organization } = await createTestOrganization(runtime, { id: "another-organization" });
    const { key } = await createKey(administrationOf(runtime), organization.id, { name: "other" });
    const give = (other: string): Promise<void> => page.evaluate(`void (location.hash = "key=${other}")`);
    await give(apiKey);
    await expect.poll(() => page.url()).toBe(`${baseUrl}/upload`);
    expect(await sections.count()).toBe(1);
    await give(key);
    await page.getByText("The address has another key than this tab.").waitFor();
    expect(await page.evaluate(traces)).not.toContain("wi_");
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Keep this tab’s key" }).click();
    await sections.getByTitle("demo", { exact: true }).waitFor();
    await give(key);
    await page.getByRole("button", { name: "Continue" }).click();
    await sections.getByTitle(organization.id, { exact: true }).waitFor();

    // Any other host could be one that others see.
    const { port } = new URL(baseUrl);
    await page.goto(`http://work.localhost:${port}/upload#key=${apiKey}`);
    const field = page.getByLabel("Your organization’s API key");
    expect([await field.inputValue(), await page.evaluate(traces)]).toEqual(["", expect.not.stringContaining("wi_")]);
    expect(complaints.filter((each) => !each.includes("work.localhost"))).toEqual([]);
    await page.context().close();
  });

  test("is used with the keyboard alone", async () => {
    const { page, complaints } = await openPage(site.browser, site.origins);
    await page.goto(`${site.stack.baseUrl}/upload`);
    const key = page.getByLabel("Your organization’s API key");
    for (let presses = 0; presses < 20 && !(await key.evaluate((one) => one.matches(":focus"))); presses++) {
      await page.keyboard.press("Tab");
    }
    await page.keyboard.type(site.stack.apiKey);
    await page.keyboard.press("Enter");
    await page.getByRole("navigation", { name: "Sections" }).waitFor();
    const input = page.locator('input[type="file"]');
    for (let presses = 0; presses < 20 && !(await input.evaluate((one) => one.matches(":focus"))); presses++) {
      await page.keyboard.press("Tab");
    }
    expect(await input.evaluate((one) => one.matches(":focus"))).toBe(true);
    // The browser's own dialog is not part of the page.
    const rows = ["key-1,Ann,Cid,Parked,02/03/2024 09:00", "key-2,Ben,Cid,Lost,04/05/2024 10:00"];
    await chooseFile(page, "keys.csv", Buffer.from(["Ticket ID,Agent,Owner,Status,Closed at", ...rows].join("\n")));
    await page.getByRole("button", { name: "Run a trial" }).waitFor();
    const focused = (): Promise<string> => page.evaluate("document.activeElement.textContent");
    const form = page.locator(".strip form");
    const left = page.getByRole("status").filter({ hasText: "left" });
    expect([await left.textContent(), await form.locator("h3").textContent()]).toEqual([
      "4 questions left",
      "Which column is the agent?",
    ]);
    expect(await lineOf(page, "Completed at").textContent()).toContain("needs an answer");
    // The arrow keys only move. Enter and “Next” go on, and the focus is on the next question then.
    const firstAnswer = async (): Promise<void> => {
      for (let presses = 0; presses < 60 && (await form.locator("input:focus").count()) === 0; presses++)
        await page.keyboard.press("Tab");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("ArrowDown");
    };
    await firstAnswer();
    expect([await left.textContent(), await form.locator("h3").textContent()]).toEqual([
      "4 questions left",
      "Which column is the agent?",
    ]);
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("What does each status mean?");
    expect([await left.textContent(), await form.count()]).toEqual(["3 questions left", 1]);
    for (const word of ["Parked", "Lost"]) {
      await page.keyboard.press("Tab");
      await page.getByLabel(`“${word}” (1 row) means`).and(page.locator(":focus")).waitFor();
      await page.keyboard.type("In p");
    }
    await tabTo(page, "button", "Next");
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("Which date is “02/03/2024 09:00” in “Closed at”?");
    await firstAnswer();
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("Which time zone are the times in?");
    // Back by “Change”, and on by “Next”.
    await lineOf(page, "Agent").focus();
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("Agent");
    expect(await form.count()).toBe(1);
    await tabTo(page, "button", "Next");
    await page.keyboard.press("Space");
    await expect.poll(focused).toBe("Which time zone are the times in?");
    // The only answer here: this computer's zone is UTC.
    await firstAnswer();
    await page.keyboard.press("Space");
    expect(await focused()).toBe("");
    await page.keyboard.press("Enter");
    await page.getByText("Nothing left to answer.").waitFor();
    expect(await form.count()).toBe(0);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Run a trial");
    await page.keyboard.press("Enter");
    await page.getByText("Nothing was saved").waitFor();
    await tabTo(page, "button", "Import 2 rows");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Import of keys.csv" }).waitFor();
    // The focus is where the new view begins.
    expect(await page.evaluate("document.activeElement.textContent")).toBe("4. Import of keys.csv");
    await page.getByText("Import finished.").waitFor();
    expect(await count(page, "created")).toBe("2");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test.each(Object.entries(SCREENS))("fits on a %s, light and dark, without a finding of axe", async (name, screen) => {
    const { page, complaints } = await openPage(site.browser, site.origins, screen);
    const check = async (state: string): Promise<void> => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await takeScreenshot(page, `upload-${state}-${name}-${colorScheme}`);
        const findings = await accessibilityFindings(page, colorScheme === "light" ? "all" : "colours");
        expect([state, colorScheme, findings]).toEqual([state, colorScheme, []]);
        expect([state, await page.evaluate("document.documentElement.scrollWidth - innerWidth")]).toEqual([state, 0]);
      }
    };
    await page.goto(`${site.stack.baseUrl}/upload`);
    await page.getByLabel("Your organization’s API key").fill(site.stack.apiKey);
    await check("key");
    await page.keyboard.press("Enter");
    await chooseFile(page, "tickets.csv", TICKETS);
    await page.getByRole("group", { name: "Which encoding does this file have?" }).waitFor();
    await check("encoding");
    await page.getByRole("radio", { name: /^Windows-1252 “/ }).click();
    await page.getByRole("button", { name: "Run a trial" }).waitFor();
    await check("file");
    await confirmColumns(page);
    await check("answered");
    await page.getByRole("button", { name: "Run a trial" }).click();
    await page.getByRole("region", { name: "Values to replace" }).waitFor();
    await check("job");
    await page.getByRole("button", { name: /^Import / }).click();
    await page.getByText("Import finished.").waitFor();
    await check("done");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("keeps the key through a reload of the tab if the person wants that, and names its views in the tab", async () => {
    const { page } = await openPage(site.browser, site.origins);
    await page.goto(`${site.stack.baseUrl}/upload`);
    await page.getByLabel("Your organization’s API key").fill(site.stack.apiKey);
    await page.getByLabel("Keep the key when I reload this tab").check();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("link", { name: "Imports", exact: true }).click();
    await expect.poll(() => page.title()).toBe("Imports · Work items");
    await page.reload();
    await page.getByRole("region", { name: "Imports, newest first" }).waitFor();
    await open(page, "demo");
    await page.getByRole("button", { name: "Remove key" }).click();
    await page.reload();
    await page.getByLabel("Your organization’s API key").waitFor();
    await page.context().close();
  });

  test("opens with an address that somebody has cut or typed", async () => {
    for (const [place, shown] of [
      ["#item=100%", "This item doesn’t exist."],
      ["#nothing", "1. Choose a file"],
    ] as const) {
      const { page, complaints } = await site.begin(place);
      await page.getByText(shown).waitFor();
      // The browser itself reports the 404.
      expect(complaints.filter((complaint) => !complaint.includes("404"))).toEqual([]);
      await page.context().close();
    }
  });

  test("works in a browser that keeps nothing, and without what browsers keep from pages without HTTPS", async () => {
    const { page, complaints } = await openPage(site.browser, site.origins);
    const forbid = (name: string): string =>
      `Object.defineProperty(globalThis, "${name}", { get() { throw new DOMException("denied", "SecurityError"); } });`;
    const without = (prototype: string, name: string): string =>
      `Object.defineProperty(${prototype}.prototype, "${name}", { value: undefined });`;
    await page.addInitScript(`${forbid("sessionStorage")}${forbid("localStorage")}`);
    await page.addInitScript(
      `${without("Crypto", "subtle")}${without("Crypto", "randomUUID")}${without("Navigator", "clipboard")}`,
    );
    await page.goto(`${site.stack.baseUrl}/upload`);
    await page.getByLabel("Your organization’s API key").fill(site.stack.apiKey);
    await page.getByLabel("Keep the key").check();
    await page.keyboard.press("Enter");
    await chooseFile(page, "plain.csv", Buffer.from("Ticket ID,Closed at\nplain-1,2026-03-01 09:00\n"));
    await confirmColumns(page);
    await importTried(page);
    await page.goto(`${site.stack.baseUrl}/docs/list-work-items`);
    await page.getByRole("button", { name: "Copy" }).first().click();
    await page.getByRole("button", { name: "Select and copy it yourself" }).waitFor();
    await page.getByRole("tab", { name: "Python" }).click();
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
