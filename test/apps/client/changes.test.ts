import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Change, type Client, createClient, type WorkItem } from "../../../apps/client/client.ts";
import { startTestService, type TestService } from "../../support/local-service.ts";

let stack: TestService;
let client: Client;
beforeAll(async () => {
  stack = await startTestService();
  client = createClient({ baseUrl: stack.baseUrl, apiKey: stack.apiKey });
});
afterAll(() => stack?.stop());

const write = async (...items: { readonly external_id: string; readonly type?: string }[]): Promise<void> => {
  for await (const { status } of client.workItems.apply(items)) expect(status).not.toBe("error");
};
const listed = async (): Promise<Map<string, WorkItem>> => {
  const items = new Map<string, WorkItem>();
  for await (const item of client.workItems.list()) items.set(item.id, item);
  return items;
};
/** Waits until the feed shows a change that is made now, and so all that were made before. */
const feedIsThere = async (): Promise<void> => {
  const external_id = `marker-${crypto.randomUUID()}`;
  const signal = AbortSignal.timeout(30_000);
  const feed = client.changes({ after: "now", follow: true, signal });
  const next = feed.next();
  await write({ external_id });
  for (let { value, done } = await next; !done; { value, done } = await feed.next()) {
    if (value && "external_id" in value && value.external_id === external_id) return;
  }
};

/** A copy in memory, and how often it was emptied. */
class Copy {
  readonly items = new Map<string, object>();
  cursor: string | undefined;
  starts = 0;
  pages = 0;

  /** @param pagesMax pages after which it is killed before it saves its cursor */
  async update(pagesMax = Infinity): Promise<void> {
    let left = pagesMax;
    await client.copy({
      after: this.cursor,
      startOver: () => {
        this.starts += 1;
        this.items.clear();
      },
      apply: (changes) => {
        for (const change of changes) this.#apply(change);
        if (--left < 0) throw new Error("killed");
      },
      saveCursor: (cursor) => {
        this.cursor = cursor;
        this.pages += 1;
      },
    });
  }

  #apply(change: Change): void {
    const { sequence, deleted_at: deletedAt, ...item } = change;
    expect(sequence).toBeGreaterThanOrEqual(0);
    if (deletedAt === null) this.items.set(item.id, item);
    else this.items.delete(item.id);
  }
}

describe("a copy", () => {
  it("equals the list after a first load and after each increment", async () => {
    await write(...Array.from({ length: 230 }, (_, index) => ({ external_id: `copied-${index}` })));
    const copy = new Copy();
    await copy.update();
    expect(copy.items).toEqual(await listed());
    expect(copy.starts).toBe(1);

    await write({ external_id: "copied-7", type: "changed" }, { external_id: "new-1" });
    const first = [...(await listed()).values()].find(({ external_id: id }) => id === "copied-9");
    await client.workItems.delete(first?.id ?? "");
    await feedIsThere();
    await copy.update();
    expect(copy.items).toEqual(await listed());
    expect(copy.starts).toBe(1);

    await write({ external_id: "copied-9" });
    await feedIsThere();
    await copy.update();
    expect(copy.items).toEqual(await listed());
  });

  it("resumes in the middle of a first load if it is killed before a cursor is saved", async () => {
    const copy = new Copy();
    await expect(copy.update(1)).rejects.toThrow("killed");
    expect(copy.pages).toBe(1);
    await copy.update();
    expect(copy.items).toEqual(await listed());
    expect(copy.starts).toBe(1);
  });

  it("starts over if the changes after its cursor are not kept, and drops what is gone", async () => {
    const copy = new Copy();
    copy.cursor = "1";
    copy.items.set("gone", {});
    await copy.update();
    expect(copy.starts).toBe(1);
    expect(copy.items).toEqual(await listed());
  });

  it("rejects what is not a cursor, and is left as it is", async () => {
    const copy = new Copy();
    copy.cursor = "not a cursor";
    copy.items.set("kept", {});
    await expect(copy.update()).rejects.toThrow("after: must be a meta.page.next of this feed");
    expect(copy.items.size).toBe(1);
  });
});

describe("changes", () => {
  it("yield every item once it changed, with its events if they are requested", async () => {
    await feedIsThere();
    const item = [...(await listed()).values()].find(({ external_id: id }) => id === "new-1");
    const changes = client.changes({
      after: "now",
      follow: true,
      withEvents: true,
      signal: AbortSignal.timeout(30_000),
    });
    const next = changes.next();
    await client.workItems.upsertEvent(item?.id ?? "", { external_id: "e-1", content: "called" });
    expect((await next).value).toMatchObject({ id: item?.id, events: [{ external_id: "e-1", content: "called" }] });
  });

  it("begin at a time", async () => {
    const items = [...(await listed()).values()];
    const since = items.map(({ created_at: at }) => at).toSorted()[0];
    const ids = new Set<string>();
    for await (const { id } of client.changes({ since, limit: 1000 })) ids.add(id);
    expect(items.every(({ id }) => ids.has(id))).toBe(true);
    const later = new Date(Date.now() + 120_000).toISOString();
    expect(await client.changes({ since: later }).next()).toMatchObject({ done: true });
  });

  it("end at the end of the feed, and with the signal if they follow it", async () => {
    const all: Change[] = [];
    for await (const change of client.changes()) all.push(change);
    expect(all.length).toBeGreaterThanOrEqual((await listed()).size);
    const signal = AbortSignal.timeout(300);
    await expect(client.changes({ after: "now", follow: true, signal }).next()).rejects.toThrow(/timeout/i);
  });
});
