import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HEAD_BYTES } from "../../../../infra/importer/files/text-file.ts";
import { accessibilityFindings, hasBrowser, openPage } from "../../../support/browser.ts";
import { chooseFile, confirmColumns, startUploadSite, type UploadSite } from "../../../support/upload-site.ts";

let site: UploadSite;

describe.skipIf(!hasBrowser)("an import on the upload page that meets a problem", () => {
  beforeAll(async () => {
    site = await startUploadSite();
  });
  afterAll(() => site?.stop());

  test("cancels a job that is open", async () => {
    const asked = await fetch(`${site.stack.baseUrl}/v1/work_items/upload`, {
      method: "POST",
      headers: { authorization: `Bearer ${site.stack.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ upload: { filename: "waiting.csv", size: 100 } }),
    });
    const { data } = (await asked.json()) as { data: { id: string } };
    const { page, complaints } = await site.begin(`#job=${data.id}`);
    await page.getByText("waiting.csv is waiting to start.").waitFor();
    await page.getByText("0 of ? rows").waitFor();
    expect(await page.getByRole("progressbar", { name: "Rows processed" }).count()).toBe(1);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Stopping…" }).waitFor();
    await page.getByText("Import cancelled.").waitFor();
    expect(await page.getByRole("button", { name: "Cancel" }).count()).toBe(0);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("makes one job of a request whose response was lost, and says what to do when the key is revoked", async () => {
    const { page } = await site.begin();
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
    await page.getByRole("button", { name: "Import without a trial" }).click();
    await page.getByText("The service can’t be reached").waitFor();
    await page.getByRole("button", { name: "Import without a trial" }).click();
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
    await opened.page.getByText("Row 2: a quote is opened and never closed; close it").waitFor();
    expect(await opened.page.getByRole("button", { name: "Run a trial" }).isDisabled()).toBe(true);
    await chooseFile(opened.page, "long.csv", Buffer.from(`id,note\na,${"y".repeat(HEAD_BYTES)}\n`));
    await opened.page.getByText("The first rows can’t be checked here.").waitFor();
    await chooseFile(opened.page, "few.csv", Buffer.from("id\noffline-1\n"));
    await opened.page.context().setOffline(true);
    await opened.page.getByRole("button", { name: "Run a trial" }).click();
    await alert.getByText("The service can’t be reached").waitFor();
    expect(await alert.allTextContents()).toContainEqual(
      expect.stringContaining("Check your connection and try again"),
    );
    await opened.page.context().setOffline(false);
    await opened.page.getByRole("button", { name: "Run a trial" }).click();
    await opened.page.getByText("Nothing was saved").waitFor();
    await opened.page.context().close();
  });
});
