import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessibilityFindings, hasBrowser, SCREENS, takeScreenshot } from "../../../support/browser.ts";
import { startUploadSite, tabTo, type UploadSite } from "../../../support/upload-site.ts";
import { startReceiver } from "../../../support/webhooks.ts";

describe.skipIf(!hasBrowser)("webhooks on the upload page", () => {
  let site: UploadSite;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let [status, downStatus] = [204, 500];
  beforeAll(async () => {
    [site, receiver] = await Promise.all([
      startUploadSite(),
      startReceiver(({ url = "" }, response) => response.writeHead(url.endsWith("down") ? downStatus : status).end()),
    ]);
  });
  afterAll(() => Promise.all([site?.stop(), receiver?.stop()]));

  test("are added with a secret that is shown once, tested, paused, called again, rotated and deleted", async () => {
    const { page, complaints } = await site.begin("#webhooks");
    await page.getByText("No webhooks yet. Add one to get a message when something has changed.").waitFor();
    const downUrl = `${receiver.url}/down`;
    await fetch(`${site.stack.baseUrl}/v1/webhooks`, {
      method: "POST",
      headers: { authorization: `Bearer ${site.stack.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ webhook: { url: downUrl } }),
    });
    const field = page.getByLabel("Endpoint URL (https)");
    await field.fill("http://example.com/hook");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("URL: must begin with https://", { exact: true }).waitFor();
    expect(await field.inputValue()).toBe("http://example.com/hook");

    await field.fill(receiver.url);
    await page.getByLabel("Finished imports").uncheck();
    await tabTo(page, "button", "Add webhook");
    await page.keyboard.press("Enter");
    const secret = page.locator(".warning", { hasText: "it won’t be shown again:" });
    expect(await secret.textContent()).toMatch(/whsec_\S+/);
    const card = page.getByRole("region", { name: receiver.url, exact: true });
    await card.getByText("Sends item changes. Last delivery: none yet.").waitFor();

    await tabTo(page, "button", `Send a test to ${receiver.url}`);
    await page.keyboard.press("Enter");
    await card.getByText(/^Test message: 204 in \d+ ms\.$/).waitFor();
    expect(receiver.told()).toContainEqual({ type: "webhook.test", data: {} });
    status = 500;
    await card.getByRole("button", { name: `Send a test to ${receiver.url}` }).click();
    await card.getByText(/^Test message: failed: 500 in \d+ ms\.$/).waitFor();

    await card.getByRole("button", { name: `Pause ${receiver.url}` }).click();
    await card.getByText("Paused. It gets no messages until you resume it.").waitFor();
    await card.getByRole("button", { name: `Resume ${receiver.url}` }).click();
    await card.getByText("Active", { exact: true }).waitFor();
    await card.locator("summary").click();
    await card.getByRole("cell", { name: /^failed: 500 in/ }).waitFor();
    await expect.poll(() => receiver.paths(), { timeout: 60_000 }).toContain("/hook/down");
    await page.reload();
    await page.getByLabel("Your organization’s API key").fill(site.stack.apiKey);
    await page.getByRole("button", { name: "Continue" }).click();
    const down = page.getByRole("region", { name: downUrl });
    await down.getByText(/^Failing since .*Fix your receiver, then choose “Send again”\.$/).waitFor();
    downStatus = 204;
    const again = down.getByRole("button", { name: `Send again to ${downUrl}` });
    // While the service's own attempt is under way, the page says so.
    await expect
      .poll(
        async () => {
          const isSent = (await down.getByText(/^Sent again: 204 in \d+ ms\.$/).count()) === 1;
          if (!isSent && (await again.isEnabled())) await again.click();
          return isSent;
        },
        { timeout: 60_000, interval: 3000 },
      )
      .toBe(true);
    // It was disabled in the meantime.
    await expect.poll(() => again.evaluate((button) => button.matches(":focus"))).toBe(true);
    await down.getByText("Active", { exact: true }).waitFor();
    await down.locator("summary").click();
    await down.getByRole("cell", { name: "Item changes" }).first().waitFor();

    await card.getByRole("button", { name: `Rotate secret of ${receiver.url}` }).click();
    await card.getByText("The previous secret also signs messages for 24 hours.").waitFor();
    expect(await page.locator(":focus").textContent()).toMatch(/^Signing secret. Copy it now/);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await card.getByRole("button", { name: "Copy the signing secret" }).click();
    await card.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toMatch(/^whsec_\S+$/);
    expect(await accessibilityFindings(page)).toEqual([]);
    await takeScreenshot(page, "webhooks");
    await page.setViewportSize(SCREENS.phone.viewport);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await takeScreenshot(page, "webhooks-phone");
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await accessibilityFindings(page, "colours")).toEqual([]);
    await takeScreenshot(page, "webhooks-dark");
    await page.setViewportSize(SCREENS.desktop.viewport);

    const deleting = card.getByRole("button", { name: `Delete ${receiver.url}`, exact: true });
    await deleting.click();
    await card.getByRole("group", { name: `Delete ${receiver.url}?` }).waitFor();
    await takeScreenshot(page, "webhooks-delete");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate("document.activeElement.ariaLabel")).toBe(`Delete ${receiver.url}`);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.getByText("The webhook is deleted.").waitFor();
    expect(await card.count()).toBe(0);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Webhooks");
    await page.reload();
    await page.getByLabel("Your organization’s API key").waitFor();
    expect(await page.content()).not.toContain("whsec_");
    expect(complaints.filter((text) => !text.includes("422"))).toEqual([]);
    await page.context().close();
  });
});
