import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { LocalStack } from "../../../infra/local/stack.ts";
import { hasBrowser, openPage, SCREENS, startBrowser, takeScreenshot } from "../../support/browser.ts";
import { startLocalService } from "../../support/local-service.ts";

describe.skipIf(!hasBrowser)("the documentation in a browser", () => {
  let stack: LocalStack;
  let browser: Browser;
  beforeAll(async () => {
    [stack, browser] = await Promise.all([startLocalService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  test("lists every operation, and sends a request with a key, without a complaint of the browser", async () => {
    const { page, complaints } = await openPage(browser, [stack.baseUrl]);
    await page.goto(`${stack.baseUrl}/docs/`);
    const operations = page.locator(".opblock");
    await operations.first().waitFor();
    const document = (await (await fetch(`${stack.baseUrl}/v1/openapi.json`)).json()) as { paths: object };
    const expected = Object.values(document.paths).flatMap((methods) => Object.keys(methods as object));
    expect(await operations.count()).toBe(expected.length);

    await page.locator("button.authorize").first().click();
    await page.locator(".auth-container input").fill(stack.apiKey);
    await page.locator(".auth-btn-wrapper button.authorize").click();
    await page.locator(".auth-btn-wrapper button.btn-done").click();
    await page.locator("#operations-Work_items-listWorkItems .opblock-summary-control").click();
    const responded = page.waitForResponse((response) => response.url().includes("/v1/work_items"));
    await page.locator("#operations-Work_items-listWorkItems button.execute").click();
    const response = await responded;
    expect([response.status(), new URL(response.url()).origin]).toEqual([200, stack.baseUrl]);
    await page.locator("#operations-Work_items-listWorkItems .responses-table.live-responses-table").waitFor();
    await takeScreenshot(page, "docs-tried");
    expect(complaints).toEqual([]);
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
      await page.locator(".opblock").first().waitFor();
    }
    await page.locator("#operations-Service-getHealth .opblock-summary-control").click();
    // Where a busy machine lets a table wait, the service is not healthy at once.
    await expect.poll(async () => (await fetch(`${stack.baseUrl}/v1/health`)).status, { timeout: 20_000 }).toBe(200);
    const responded = page.waitForResponse((response) => response.url().includes("/v1/health"));
    await page.locator("#operations-Service-getHealth button.execute").click();
    const response = await responded;
    expect(response.status()).toBe(200);
    expect(response.url()).toBe(`${origin}/prod/v1/health`);
    await page.getByRole("link", { name: "Files" }).click();
    await page.getByRole("heading", { name: "Files", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Upload", exact: true }).click();
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

  test.each(
    Object.entries(SCREENS).flatMap(([name, screen]) =>
      (["light", "dark"] as const).map((colorScheme) => [name, colorScheme, screen] as const),
    ),
  )("fits on a %s in %s", async (name, colorScheme, screen) => {
    const { page, complaints } = await openPage(browser, [stack.baseUrl], { ...screen, colorScheme });
    for (const path of ["", "docs", "docs/files"]) {
      await page.goto(`${stack.baseUrl}/${path}`);
      if (path === "docs") await page.locator(".opblock").first().waitFor();
      await takeScreenshot(page, `${path.replace("/", "-") || "home"}-${name}-${colorScheme}`);
      const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect([path, overflow]).toEqual([path, 0]);
    }
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
