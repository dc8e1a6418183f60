import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  accessibilityFindings,
  hasBrowser,
  openPage,
  SCREENS,
  startBrowser,
  takeScreenshot,
} from "../../support/browser.ts";
import { startTestService, type TestService } from "../../support/local-service.ts";

describe.skipIf(!hasBrowser)("the documentation in a browser", () => {
  let stack: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [stack, browser] = await Promise.all([startTestService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  test("finds endpoints, errors and sections of guides by words", async () => {
    const { page, complaints } = await openPage(browser, [stack.baseUrl]);
    await page.goto(`${stack.baseUrl}/docs/first-call`);
    for (const [words, result, address] of [
      ["If-Match update", "Update a work item; omitted fields keep their values", "/docs/update-work-item"],
      ["reused", "Code reused", "/docs/errors#code-reused"],
      ["rotate", "Keys: Rotate a key without downtime", "/docs/keys#rotate-a-key-without-downtime"],
    ] as const) {
      await page.getByLabel("Search").fill(words);
      await page.locator(".results").getByRole("link", { name: result }).click();
      await page.waitForURL(`${stack.baseUrl}${address}`);
    }
    await page.getByLabel("Search").fill("retrying safely");
    await page.locator(".results mark").first().waitFor();
    expect(await page.locator(".results mark").allTextContents()).toEqual(expect.arrayContaining(["retry"]));
    expect(await accessibilityFindings(page)).toEqual([]);
    await takeScreenshot(page, "docs-search");
    await page.getByText("The 8 best results:", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Errors and retries: Safe retries" }).click({ modifiers: ["ControlOrMeta"] });
    await expect.poll(() => page.context().pages().length).toBe(2);
    expect(await page.locator(".results a").count()).toBe(8);
    for (const [words, keys, address] of [
      ["fill down", ["Enter"], "/docs/from-an-export#totals-notes-and-groups"],
      ["undo", ["ArrowDown", "ArrowDown", "Enter"], "/docs/undo-an-import"],
    ] as const) {
      await page.getByLabel("Search").fill(words);
      await page.locator(".results mark").first().waitFor();
      for (const key of keys) await page.keyboard.press(key);
      await page.waitForURL(`${stack.baseUrl}${address}`);
      await expect.poll(() => page.locator(".results a").count()).toBe(0);
    }
    await page.getByLabel("Search").fill("webhok secret");
    await page.locator(".results").getByRole("link", { name: "Get notified" }).first().waitFor();
    await page.getByLabel("Search").fill("xylophone");
    await page.getByText("Nothing found").waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("has a page for an address without one, from which the search works", async () => {
    const { page } = await openPage(browser, [stack.baseUrl]);
    expect((await page.goto(`${stack.baseUrl}/docs/callbacks`))?.status()).toBe(404);
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    await page.getByLabel("Search").fill("webhooks");
    await page.locator(".results").getByRole("link", { name: "Get notified" }).first().click();
    await page.getByRole("heading", { name: "Get notified" }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.context().close();
  });

  test("marks the page in the menu, folds other resources, and lists the page's own sections in wide windows", async () => {
    const { page } = await openPage(browser, [stack.baseUrl]);
    await page.goto(`${stack.baseUrl}/docs/get-health`);
    const menu = page.getByRole("navigation", { name: "Documentation" });
    const link = (name: string) => menu.getByRole("link", { name, exact: true });
    expect(await menu.locator("[aria-current=page]").allTextContents()).toEqual(["Check service health"]);
    expect([await link("Import files with the API").isVisible(), await link("List webhooks").isVisible()]).toEqual([
      true,
      false,
    ]);
    await menu.locator("summary", { hasText: "Webhooks" }).click();
    expect(await link("List webhooks").isVisible()).toBe(true);
    const here = page.getByRole("navigation", { name: "On this page" });
    await here.getByRole("link", { name: "Response", exact: true }).click();
    expect(page.url()).toBe(`${stack.baseUrl}/docs/get-health#response`);
    await page.setViewportSize({ width: 1099, height: 900 });
    expect(await here.isVisible()).toBe(false);
    await page.context().close();
  });

  test("copies code with the address that serves it", async () => {
    const { page } = await openPage(browser, [stack.baseUrl]);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${stack.baseUrl}/docs/get-health`);
    await page.getByRole("button", { name: "Copy" }).first().click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    expect(copied).toBe(`curl "${stack.baseUrl}/v1/health"`);
    await page.getByRole("tab", { name: "Python" }).click();
    await page.locator(".copy").first().click();
    await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toMatch(/^import requests\n/);
    await page.context().close();
  });

  test("works below the name of a stage, which a server in front takes away", async () => {
    const { port } = new URL(stack.baseUrl);
    const front = createServer((message, response) => {
      const path = (message.url ?? "").replace(/^\/prod/, "");
      if (path === message.url) {
        response.writeHead(404).end();
        return;
      }
      const options = { port, path, method: message.method, headers: message.headers };
      const sent = request(options, (received) => {
        response.writeHead(received.statusCode ?? 500, received.headers);
        received.pipe(response);
      });
      message.pipe(sent);
    });
    await once(front.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void front.close());
    const origin = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
    const { page, complaints } = await openPage(browser, [origin]);
    for (const path of ["docs", "docs/"]) {
      await page.goto(`${origin}/prod/${path}`);
      await page.getByRole("link", { name: "GET /v1/health" }).waitFor();
    }
    await page.getByRole("link", { name: "GET /v1/health" }).click();
    await page.getByRole("link", { name: "Import files with the API" }).click();
    await page.getByRole("heading", { name: "Import files with the API", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Import", exact: true }).click();
    await page.getByLabel("Your organization’s API key").fill(stack.apiKey);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "1. Choose a file" }).waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("shows a guide's code in the language that was chosen, by mouse and by keyboard, in every group", async () => {
    const { page, complaints } = await openPage(browser, [stack.baseUrl]);
    await page.goto(`${stack.baseUrl}/docs/first-call`);
    const visible = () =>
      page
        .locator(".code:visible[data-language]")
        .evaluateAll((all) => [...new Set(all.map((one) => one.getAttribute("data-language")))]);
    expect(await visible()).toEqual(["bash"]);
    await page.getByRole("tab", { name: "Python" }).first().click();
    expect(await visible()).toEqual(["python"]);
    await page.keyboard.press("ArrowLeft");
    expect(await visible()).toEqual(["ts"]);
    await page.goto(`${stack.baseUrl}/docs/files`);
    expect(await visible()).toEqual(["ts"]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test.each(Object.entries(SCREENS))("fits on a %s, light and dark, and axe finds nothing", async (name, screen) => {
    const { page, complaints } = await openPage(browser, [stack.baseUrl], screen);
    for (const path of ["", "docs", "docs/files", "docs/errors", "docs/import-a-file", "docs/upload-work-items"]) {
      await page.goto(`${stack.baseUrl}/${path}`);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await takeScreenshot(page, `${path.replace("/", "-") || "home"}-${name}-${colorScheme}`);
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        const findings = await accessibilityFindings(page, colorScheme === "light" ? "all" : "colours");
        expect([path, colorScheme, overflow, findings]).toEqual([path, colorScheme, 0, []]);
      }
    }
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
