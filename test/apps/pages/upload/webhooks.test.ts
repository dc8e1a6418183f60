import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessibilityFindings, hasBrowser, SCREENS, takeScreenshot } from "../../../support/browser.ts";
import { startUploadSite, tabTo, type UploadSite } from "../../../support/upload-site.ts";
import { startReceiver } from "../../../support/webhooks.ts";

describe.skipIf(!hasBrowser)("webhooks on the upload page", () => {
  let site: UploadSite;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  beforeAll(async () => {
    [site, receiver] = await Promise.all([startUploadSite(), startReceiver()]);
  });
  afterAll(() => Promise.all([site?.stop(), receiver?.stop()]));

  test("are added with a secret that is shown once, tested, paused and resumed, by keyboard", async () => {
    const { page, complaints } = await site.begin("#webhooks");
    await page.getByText("No webhooks yet.").waitFor();
    const field = page.getByLabel("Endpoint URL (https)");
    await field.fill("http://example.com/hook");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("URL: must begin with https://", { exact: true }).waitFor();
    expect(await field.inputValue()).toBe("http://example.com/hook");

    await field.fill(receiver.url);
    await page.getByLabel("Finished imports").uncheck();
    await tabTo(page, "button", "Add webhook");
    await page.keyboard.press("Enter");
    const secret = page.getByText("it won’t be shown again:");
    expect(await secret.textContent()).toMatch(/whsec_\S+$/);
    const row = page.getByRole("row", { name: receiver.url });
    expect(await row.getByRole("cell").nth(1).textContent()).toBe("Item changes");

    await tabTo(page, "button", `Send a test message to ${receiver.url}`);
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Test message: status 204").waitFor();
    expect(receiver.told()).toContainEqual({ type: "webhook.test", data: {} });

    await page.getByRole("button", { name: `Pause ${receiver.url}` }).click();
    await row.getByText("Paused").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await takeScreenshot(page, "webhooks");
    await page.setViewportSize(SCREENS.phone.viewport);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await takeScreenshot(page, "webhooks-phone");
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await accessibilityFindings(page, "colours")).toEqual([]);
    await takeScreenshot(page, "webhooks-dark");
    await page.getByRole("button", { name: `Resume ${receiver.url}` }).click();
    await row.getByText("Active").waitFor();
    await page.reload();
    await page.getByLabel("Your organization’s API key").waitFor();
    expect(await page.content()).not.toContain("whsec_");
    expect(complaints.filter((text) => !text.includes("422"))).toEqual([]);
    await page.context().close();
  });
});
