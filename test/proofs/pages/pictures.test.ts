import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readGuides } from "../../../apps/pages/docs/documents.ts";
import { PICTURES } from "../../../apps/pages/docs/pictures.ts";
import { hasBrowser, openPage } from "../../support/browser.ts";
import { endedDaysAgo } from "../../support/local-service.ts";
import { chooseFile, confirmColumns, open, startUploadSite, type UploadSite } from "../../support/upload-site.ts";

const SCREEN = {
  viewport: { width: 760, height: 640 },
  deviceScaleFactor: 1.5,
  colorScheme: "light",
  locale: "en-GB",
  timezoneId: "Europe/London",
} as const;

/** A help desk's tickets, with a question and a wrong value. */
const FILE = `Ticket ID,Status,Closed at,Agent email,Subject,Team
T-1001,Closed,05/06/2026 14:30,ann@example.com,Printer is offline,South
T-1002,Closed,06/06/2026 09:12,ben@example.com,Cannot sign in,North
T-1003,Open,,ann@example.com,New laptop,South
T-1004,Closed,someday,ann@example.com,Refund for order 7,South
T-1005,Open,,,Change of address,North
T-1006,Closed,28/06/2026 16:45,cid@example.com,Invoice is missing,North
`;

/** A screenshot as WebP, which takes half as many bytes. */
async function asWebp({ browser }: UploadSite, png: Buffer): Promise<Buffer> {
  const page = await browser.newPage();
  const text = await page.evaluate<string>(`(async () => {
    const bitmap = await createImageBitmap(await (await fetch("data:image/png;base64,${png.toString("base64")}")).blob());
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    canvas.getContext("2d", { alpha: false }).drawImage(bitmap, 0, 0);
    return (await (await canvas.convertToBlob({ type: "image/webp", quality: 0.7 })).bytes()).toBase64();
  })()`);
  await page.close();
  return Buffer.from(text, "base64");
}

/** With PICTURES=1 it writes the pictures into `docs/pictures`. */
describe.skipIf(!hasBrowser)("the guide “Import a file”", () => {
  let site: UploadSite;
  beforeAll(async () => {
    site = await startUploadSite();
  });
  afterAll(() => site?.stop());

  test("follows the page from the key to an undo, and names only what the page shows", async () => {
    const { page, complaints } = await openPage(site.browser, site.origins, SCREEN);
    onTestFinished(() => page.context().close());
    const pictures = new Map<string, Buffer>();
    let texts = "";
    /** Takes a picture of what the window shows below the top of an element. */
    const take = async (name: string, top: Locator, height: number = SCREEN.viewport.height): Promise<void> => {
      await top.waitFor();
      await top.evaluate((element) => {
        element.scrollIntoView();
        element.ownerDocument.defaultView?.scrollBy(0, -16);
      });
      // Folded parts too.
      texts += await page.locator("body").textContent();
      const clip = { x: 0, y: 0, width: SCREEN.viewport.width, height };
      for (const [colorScheme, end] of [["light", ""] as const, ["dark", "-dark"] as const]) {
        await page.emulateMedia({ colorScheme });
        pictures.set(`${name}${end}.webp`, await asWebp(site, await page.screenshot({ clip })));
      }
      await page.emulateMedia({ colorScheme: "light" });
    };
    const heading = (name: RegExp): Locator => page.getByRole("heading", { name }).last();

    await page.goto(`${site.stack.baseUrl}/upload`);
    await page.getByLabel("Your organization’s API key").fill(site.stack.apiKey);
    await take("upload-key", page.locator("body"), 430);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("navigation", { name: "Sections" }).waitFor();
    await chooseFile(page, "tickets.csv", Buffer.from(FILE));
    await heading(/^2\. /).waitFor();
    await take("upload-match", heading(/^2\. /));
    await confirmColumns(page);
    await open(page, "More settings");
    texts += await page.locator("body").textContent();
    await page.getByRole("button", { name: "Run a trial" }).click();
    const wrong = page.getByLabel("Instead of “someday” in Closed at");
    await wrong.waitFor();
    await take("upload-check", heading(/Trial run/));
    await wrong.fill("27/06/2026 10:00");
    await page.getByRole("button", { name: /^Import / }).click();
    await page.getByText("Import finished.").waitFor();
    await take("upload-imported", heading(/Import of/));
    await endedDaysAgo(site.stack, /[0-9a-f-]{36}/.exec(page.url())![0], 1);
    await page.getByRole("button", { name: /^Undo / }).click();
    await page.getByRole("button", { name: "Undo now" }).waitFor();
    await take("upload-undo", heading(/[Uu]ndo/));
    expect(complaints).toEqual([]);
    if (process.env["PICTURES"] !== undefined) {
      mkdirSync(PICTURES, { recursive: true });
      for (const [file, bytes] of pictures) writeFileSync(join(PICTURES, file), bytes);
    }

    const { markdown = "" } = readGuides().find(({ name }) => name === "import-a-file") ?? {};
    const named = [...markdown.matchAll(/\*\*([^*]+)\*\*/g)].map(([, text = ""]) => text);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((text) => !texts.includes(text))).toEqual([]);
    const shown = [...markdown.matchAll(/pictures\/([\w-]+\.webp)/g)].map(([, file]) => file);
    expect([...pictures.keys()]).toEqual(shown.flatMap((file = "") => [file, file.replace(".webp", "-dark.webp")]));
  });
});
