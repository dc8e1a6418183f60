import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { workItemId } from "../../../lib/identity.ts";
import { hasBrowser } from "../../support/browser.ts";
import { endedDaysAgo } from "../../support/local-service.ts";
import { importAndWait, look, startUploadSite, tabTo, type UploadSite } from "../../support/upload-site.ts";

let site: UploadSite;

async function call(
  method: string,
  path: string,
  body: object,
): Promise<{ readonly id: string; readonly status: string }> {
  const response = await fetch(`${site.stack.baseUrl}/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${site.stack.apiKey}`, "content-type": "application/json" },
    ...(method !== "GET" && { body: JSON.stringify(body) }),
  });
  return ((await response.json()) as { data: { id: string; status: string } }).data;
}
const change = (externalId: string, work_item: object) =>
  call("PATCH", `work_items/${workItemId("demo", externalId)}`, { work_item });

const importFile = (name: string, csv: string, dryRun = false): Promise<string> =>
  importAndWait(site.stack, { name, csv, dryRun });
/** The counters of the undo that the page shows. */
const counts = (page: Page) =>
  page
    .locator(".counts div")
    .evaluateAll((all) => Object.fromEntries(all.map((one) => [...one.children].map((part) => part.textContent))));
/** The rows of the table of what is kept. */
const keptRows = async (page: Page): Promise<string[]> => {
  const rows = page.getByRole("region", { name: "Kept values" }).locator("tbody tr");
  return (await rows.evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)))).map(
    (cells) => cells.join(" | "),
  );
};

describe.skipIf(!hasBrowser)("an undo on the import page", () => {
  beforeAll(async () => {
    site = await startUploadSite();
  });
  afterAll(() => site?.stop());

  test("is tried first, names what stays with both values, and shows the pair in the history, by keyboard", async () => {
    await importFile(`${"before-".repeat(14)}.csv`, "external_id,type\nundo-old,call\n");
    const wrong = "external_id,type,agent_name,custom_attributes.team";
    const id = await importFile(
      "wrong.csv",
      `${wrong}\nundo-old,chat,Bob,south\nundo-1,chat,Bob,\nundo-2,chat,Bob,\nundo-3,chat,Bob,\nundo-4,chat,Bob,\n`,
    );
    await change("undo-old", { agent_name: "Cid", custom_attributes: { team: "north" } });
    await change("undo-4", { type: "mail" });
    await endedDaysAgo(site.stack, id, 1);

    const { page, complaints } = await site.begin(`#job=${id}`);
    await page.getByText("Import finished.").waitFor();
    await page.getByText(/An undo can’t be undone/).waitFor();
    await tabTo(page, "button", "Undo this import…");
    await look(page, "undo-offer");
    await page.keyboard.press("Enter");
    await page.getByText("Trial run finished. Nothing was changed.").waitFor();
    expect(await page.locator("h1:focus").textContent()).toBe("Trial undo of wrong.csv");
    await page.getByRole("region", { name: "Kept values" }).waitFor();
    const kept = new Set([
      "undo-old | Agent’s name | Bob | Cid | Changed since",
      "undo-old | team | south | north | Changed since",
      "undo-4 | Type | chat | mail | Item changed since",
    ]);
    expect(new Set(await keptRows(page))).toEqual(kept);
    expect(await page.locator(".outcomes > li").allTextContents()).toEqual([
      "would be deletedundo-1undo-2undo-3",
      "would be partly restored, because someone has changed values sinceRow 2undo-oldTypechat → call",
      "would be kept, because someone has made other changes sinceundo-4",
    ]);
    await look(page, "undo-trial");

    await page.getByText("An undo can’t be undone: to apply the values again, import the file again.").waitFor();
    await tabTo(page, "button", "Undo now");
    await page.keyboard.press("Enter");
    await page.getByText("Undo finished.").waitFor();
    await page.getByRole("region", { name: "Kept values" }).waitFor();
    expect(await counts(page)).toMatchObject({
      deleted: "3",
      "partly restored": "1",
      kept: "1",
    });
    expect(new Set(await keptRows(page))).toEqual(kept);
    // Deleted items have no page.
    expect(await page.locator(".outcomes a").allTextContents()).toEqual(["undo-old", "undo-4"]);
    expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
    await look(page, "undo-result");

    await page.getByRole("link", { name: "Imports", exact: true }).click();
    const rows = page.getByRole("region", { name: "Imports, newest first" }).locator("tbody tr");
    await rows.first().waitFor();
    const cells = await rows.evaluateAll((all) => all.map((row) => row.textContent ?? ""));
    expect(cells[0]).toMatch(/^Undo of wrong\.csv.*Finished/);
    expect(cells[1]).toMatch(/^wrong\.csv1 trial runTrial undo, finished.*Finished Undone.*default5410$/);
    expect(await rows.nth(1).locator("s").textContent()).toBe("wrong.csv");
    await page.setViewportSize({ width: 1024, height: 700 });
    expect((await page.locator("thead").boundingBox())!.height).toBeLessThan(40);
    await look(page, "undo-history");
    await rows.nth(1).getByText("1 trial run").click();
    await rows.nth(1).getByRole("link", { name: "Trial undo" }).waitFor();
    await rows.nth(0).getByRole("link", { name: "wrong.csv" }).click();
    await page.getByText(/^This import was undone just now\. 2 rows kept changes made since\./).waitFor();
    await look(page, "undo-undone");
    expect(await page.getByRole("button", { name: "Undo this import…" }).count()).toBe(0);
    await page.getByRole("link", { name: "View the undo" }).click();
    await page.getByText("Undo finished.").waitFor();
    await page.getByRole("link", { name: "View the import of wrong.csv" }).click();
    await page.getByRole("link", { name: "View the undo" }).waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("names items that have a completion date and aren’t completed any more", async () => {
    await importFile("open.csv", "external_id\ndated-1\ndated-2\n");
    const id = await importFile("done.csv", "external_id,status\ndated-1,completed\ndated-2,completed\n");
    await change("dated-1", { completed_at: "2026-02-01T09:30:00Z" });
    const { page, complaints } = await site.begin(`#job=${id}`);
    await page.getByRole("button", { name: "Undo this import…" }).click();
    const sentence = "Please check: after the undo, 1 row has a completion date but isn’t completed (1 Pending).";
    await page.getByText(sentence).waitFor();
    expect(await keptRows(page)).toEqual([
      expect.stringMatching(
        /^dated-1 \| Completed at \| \(empty\) \| 1 Feb 2026, .* \| Not from this file; status after the undo: Pending$/,
      ),
    ]);
    expect(await counts(page)).toMatchObject({ "would be restored to earlier values": "2" });
    await look(page, "undo-dated");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("waits, can be cancelled, and then be asked for again", async () => {
    const id = await importFile("again.csv", "external_id\nagain-1\n");
    const { page, complaints } = await site.begin(`#job=${id}`);
    await page.getByRole("button", { name: "Undo this import…" }).click();
    await page.getByRole("button", { name: "Undo now" }).click();
    await page.getByText(/^The undo is waiting to start/).waitFor();
    await page.getByText("the undo continues").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Undo cancelled. Rows undone so far stay undone.").waitFor();
    await endedDaysAgo(site.stack, id, 1);
    await page.getByRole("link", { name: "View the import of again.csv" }).click();
    await page.getByText("The undo of this import was cancelled.").waitFor();
    await page.getByRole("link", { name: "View the undo" }).click();
    await page.getByRole("button", { name: "Undo the rest" }).click();
    await page.getByText("Undo finished.").waitFor();
    expect(await counts(page)).toEqual({ deleted: "1" });
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("says why an import can’t be undone", async () => {
    const [late, later, trial] = [
      await importFile("late.csv", "external_id\nlate-1\n"),
      await importFile("later.csv", "external_id\nlate-2\n"),
      await importFile("trial.csv", "external_id\nlate-3\n", true),
    ];
    await endedDaysAgo(site.stack, late, 29);
    const { page } = await site.begin(`#job=${late}`);
    await page.getByText("This import ended more than 28 days ago. It can no longer be undone.").waitFor();
    expect(await page.getByRole("button", { name: /^Undo/ }).count()).toBe(0);
    await look(page, "undo-too-late");

    // It becomes too old while the page shows it.
    await page.goto(`${site.stack.baseUrl}/upload#job=${later}`);
    const button = page.getByRole("button", { name: "Undo this import…" });
    await button.waitFor();
    await endedDaysAgo(site.stack, later, 29);
    await button.click();
    await page.getByRole("alert").getByText("ended more than 28 days ago").waitFor();

    await page.goto(`${site.stack.baseUrl}/upload#job=${trial}`);
    await page.getByText("Trial run finished. Nothing was saved.").waitFor();
    expect(await page.getByRole("heading", { name: "Undo" }).count()).toBe(0);

    await page.goto(`${site.stack.baseUrl}/upload#job=${crypto.randomUUID()}`);
    await page.getByRole("alert").getByText("This import doesn’t exist.").waitFor();
    await page.context().close();
  });
});
