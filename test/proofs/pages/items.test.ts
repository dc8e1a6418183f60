import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createKey } from "../../../apps/operator/data/key-management.ts";
import { hasBrowser, openPage, SCREENS } from "../../support/browser.ts";
import { endedDaysAgo } from "../../support/local-service.ts";
import { administrationOf, createTestOrganization } from "../../support/organization.ts";
import { importAndWait, look, startUploadSite, type UploadSite } from "../../support/upload-site.ts";

let site: UploadSite;

/** Sends a request of the demo organization. */
const call = (method: string, path: string, body?: object): Promise<Response> =>
  fetch(`${site.stack.baseUrl}/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${site.stack.apiKey}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });

describe.skipIf(!hasBrowser)("items on the import page", () => {
  beforeAll(async () => {
    site = await startUploadSite();
  });
  afterAll(() => site?.stop());

  test("are listed with subject and status, and only with numbers that the page knows", async () => {
    const { page, complaints } = await site.begin("#items");
    await page.getByText("No items yet.").waitFor();
    const work_items = Array.from({ length: 60 }, (_, index) => ({
      external_id: `list-${String(index)}`,
      type: index < 3 ? "call" : "chat",
      status: "in_progress",
      custom_attributes: { short_description: `Subject ${String(index)}` },
    }));
    await call("POST", "work_items/batch", { work_items });
    await page.reload();
    await page.getByLabel("Your organization’s API key").fill(site.stack.apiKey);
    await page.keyboard.press("Enter");
    const status = page.getByRole("status");
    await status.getByText("First 50 items, most recently completed first.", { exact: true }).waitFor();
    const table = page.getByRole("region", { name: "Items" });
    expect(await table.getByRole("columnheader").allTextContents()).toEqual([
      "ID",
      "Subject",
      "Type",
      "Status",
      "Completed at",
      "Agent",
    ]);
    await page.getByRole("button", { name: "Show more" }).click();
    await status.getByText("60 items, most recently completed first.", { exact: true }).waitFor();
    const row = table.getByRole("row", { name: "list-7 " });
    expect(await row.getByRole("cell").allTextContents()).toEqual([
      "list-7",
      "Subject 7",
      "chat",
      "In progress",
      "",
      "",
    ]);
    // The header stays in sight, while the page scrolls.
    await page.evaluate("scrollTo(0, 900)");
    await expect.poll(() => table.getByRole("columnheader").first().boundingBox()).toMatchObject({ y: 0 });
    await page.evaluate("scrollTo(0, 0)");
    await look(page, "items");

    await page.setViewportSize(SCREENS.phone.viewport);
    const filters = page.getByRole("form", { name: "Filters" });
    const fold = page.locator("summary", { hasText: "Filters" });
    expect(await filters.isVisible()).toBe(false);
    // A row is a card, which shows all that it has.
    const widths = 'const { scrollWidth, clientWidth } = document.querySelector(".scroll"); scrollWidth - clientWidth';
    expect(await page.evaluate(widths)).toBe(0);
    await fold.press("Enter");
    await filters.getByLabel("Type").fill("call");
    await filters.getByLabel("Status").selectOption("in_progress");
    await page.keyboard.press("Tab");
    await filters.getByRole("button", { name: "Apply filters" }).press("Enter");
    await status.getByText("3 items, most recently completed first. Show all items", { exact: true }).waitFor();
    expect(await fold.textContent()).toBe("Filters: Type call, Status In progress");
    expect(await filters.isVisible()).toBe(false);
    expect((await fold.boundingBox())!.height).toBeLessThan(48);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("say which import they came from, what the source system knows of them, and what happened to them", async () => {
    const mapping = {
      others: "custom_attributes",
      fields: {
        external_id: { column: "No" },
        status: { column: "State" },
        "custom_attributes.short_description": { column: "Title" },
        agent_name: { column: "Who" },
        "custom_attributes.created": { column: "Opened" },
      },
    };
    const csv =
      "No,State,Title,Who,Team,Opened\nfact-1,completed,Broken lift,Ann,North,Monday\nfact-2,pending,,Ben,South,\n";
    const id = await importAndWait(site.stack, {
      name: "lifts.csv",
      csv: `${csv}fact-1,completed,Broken lift,Ann,East,Monday\n`,
      mapping,
    });
    const items = (await (await call("GET", "work_items?external_id=fact-1")).json()) as { data: { id: string }[] };
    const events = [
      { external_id: "second", content: "Closed", occurred_at: "2026-03-02T09:00:00Z" },
      { external_id: "first", content: "Opened", actor_name: "Cleo", occurred_at: "2026-03-01T09:00:00Z" },
    ];
    await call("POST", "work_items/batch", { work_items: [{ external_id: "fact-1", events }] });
    const { page, complaints } = await site.begin(`#job=${id}`);
    // Three rows made two items, so that the number of rows isn't that of items.
    await page.getByRole("link", { name: "View its items" }).click();
    await page.getByText("2 items, in the order of the file.", { exact: true }).waitFor();
    await page.getByRole("link", { name: "fact-1" }).click();
    await page.getByRole("heading", { name: "Broken lift", level: 1 }).waitFor();
    const view = page.locator("main");
    expect(await page.locator(".title").textContent()).toBe("Broken liftfact-1Completed");
    expect(await view.textContent()).toMatch(/AgentAnn.*From the source system.*TeamEast/s);
    expect(await view.textContent()).not.toMatch(/short_description|external_id|agent_name/);
    await page.locator(".timeline li").first().waitFor();
    expect(await page.locator(".timeline li").allTextContents()).toEqual([
      "Cleo · 1 Mar 2026, 09:00 · firstOpened",
      "2 Mar 2026, 09:00 · secondClosed",
    ]);
    expect(await page.title()).toBe("Broken lift · Work items");
    await look(page, "item");
    await page.getByText("just now by the import of lifts.csv", { exact: true }).waitFor();
    expect(await page.locator(".facts dt", { hasText: /^created/i }).allTextContents()).toEqual([
      "Created",
      "created in the source system",
    ]);
    expect(await page.getByRole("link", { name: "its undo" }).count()).toBe(0);

    await call("DELETE", `work_items/${items.data[0]!.id}`);
    await endedDaysAgo(site.stack, id, 1);
    const undo = (await (await call("POST", `work_items/upload/${id}/undo`, {})).json()) as { data: { id: string } };
    await page.getByRole("link", { name: "Back to the list" }).click();
    await page.getByRole("link", { name: "its undo" }).click();
    await page.waitForURL(`**#job=${undo.data.id}`);
    await page.getByText("Undo finished.").waitFor();
    await page.goBack();
    await page.getByText("2 items deleted since.", { exact: true }).waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("show the command that exports them if they are more than the page downloads", async () => {
    const work_items = [{ external_id: "it’s", type: "it's", agent_email: "ann@example.com" }];
    await call("POST", "work_items/batch", { work_items });
    const { page, complaints } = await site.begin(
      "#items?type=it%27s&agent_email=ann%40example.com",
      "Object.defineProperty(Blob.prototype, 'size', { get: () => 200_000_001 })",
    );
    await page.getByRole("button", { name: "Download these items (CSV)" }).click();
    await page.getByText("These items are more than 200 MB").waitFor();
    const [line] = await page.locator("pre").allTextContents();
    const options = String.raw`--type 'it'\''s' --agent-email 'ann@example.com'`;
    expect(line).toBe(`work-items export ${options} > work-items.csv`);
    await look(page, "items-too-many");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("belong to the organization that every view names, with the key", async () => {
    const { runtime, baseUrl } = site.stack;
    const name = `nightly export of the finance department (${"very ".repeat(20)}long)`;
    const { organization } = await createTestOrganization(runtime, {
      id: "an-organization-with-a-name-of-sixty-four-letters-in-all-of-it",
    });
    const { key } = await createKey(administrationOf(runtime), organization.id, { name });
    for (const screen of Object.values(SCREENS)) {
      const { page, complaints } = await openPage(site.browser, site.origins, screen);
      await page.goto(`${baseUrl}/upload`);
      await page.getByLabel("Your organization’s API key").fill(key);
      await page.keyboard.press("Enter");
      const sections = page.getByRole("navigation", { name: "Sections" });
      for (const section of ["Import a file", "Imports", "Items"]) {
        await sections.getByRole("link", { name: section, exact: true }).click();
        await sections.getByTitle(organization.id).click();
        await sections.getByText(`${organization.id}, key ${name}`).waitFor();
        await sections.getByTitle(organization.id).click();
      }
      await look(page, `owner-${String(screen.viewport.width)}`);
      await page.setViewportSize({ width: 360, height: 740 });
      for (const header of [sections, page.locator(".bar")]) {
        expect((await header.boundingBox())!.height).toBeLessThan(60);
      }
      expect(complaints).toEqual([]);
      await page.context().close();
    }
  });

  test("can be loaded again after the connection was lost", async () => {
    await importAndWait(site.stack, { name: "again.csv", csv: "external_id\nagain-1\n" });
    const { page } = await site.begin("#import");
    await page.context().setOffline(true);
    /** Waits for the failure of what was just opened, then loads it again. */
    const loadAgain = async (): Promise<void> => {
      await page.getByRole("alert").getByText("The service can’t be reached.").waitFor();
      await page.context().setOffline(false);
      await page.getByRole("button", { name: "Try again" }).click();
    };
    for (const section of ["Imports", "Items"]) {
      await page.getByRole("link", { name: section, exact: true }).click();
      await loadAgain();
      await page.getByRole("region", { name: new RegExp(`^${section}`) }).waitFor();
      await page.context().setOffline(true);
    }
    await page
      .getByRole("link", { name: /^(list|again)-/ })
      .first()
      .click();
    await loadAgain();
    const heading = page.getByRole("heading", { level: 1 });
    await expect.poll(() => heading.textContent()).toMatch(/^(Subject|again)/);
    await page.context().close();
  });
});
