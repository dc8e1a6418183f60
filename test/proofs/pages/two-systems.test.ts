import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessibilityFindings, hasBrowser } from "../../support/browser.ts";
import { ALIKE, ITEMS_OF_WEEKS, itemsIn, WEEKS } from "../../support/two-systems.ts";
import { chooseFile, confirmColumns, count, startUploadSite, type UploadSite } from "../../support/upload-site.ts";

let site: UploadSite;

describe.skipIf(!hasBrowser)("items of several systems on the import page", () => {
  beforeAll(async () => {
    site = await startUploadSite();
  });
  afterAll(() => site?.stop());

  test("have the IDs that each system shows, this week and the next, and new ones that look alike are named", async () => {
    const { page, complaints } = await site.begin();
    const runTrial = async (name: string, text: Buffer | string): Promise<void> => {
      await page.getByRole("link", { name: "Import a file", exact: true }).click();
      await chooseFile(page, name, Buffer.from(text));
      await confirmColumns(page);
      await page.getByRole("button", { name: "Run a trial" }).click();
      await page.getByText("Nothing was saved.").waitFor();
    };
    for (const [week, files] of WEEKS.entries()) {
      for (const [name, text] of Object.entries(files)) {
        await runTrial(name, text);
        const clear = page.getByRole("button", { name: "Clear it, and run the trial again" });
        if (name === "reopened.csv") {
          await page.getByText("1 row would reopen completed items").waitFor();
          await clear.click();
          await clear.waitFor({ state: "detached" });
          await page.getByText("Nothing was saved.").waitFor();
        }
        await page.getByRole("button", { name: /^Import \d rows$/ }).click();
        await page.getByText("Import finished.").waitFor();
      }
      expect(await itemsIn(site.stack)).toEqual(ITEMS_OF_WEEKS[week]);
    }

    await runTrial("alike.csv", ALIKE);
    await page.getByText("1 new ID looks like that of an item that exists").waitFor();
    expect(await count(page, "would be created")).toBe("2");
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
