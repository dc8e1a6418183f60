import type { Client, WorkItem, WorkItemInput } from "../../../apps/client/client.ts";
import type { CopiedItem } from "./copies.ts";
import { asCopied, HOSTILE_ITEMS, type HostileItem } from "./hostile-values.ts";

/** All work items as the service lists them, by id. */
export async function listedItems(client: Client): Promise<Map<string, WorkItem>> {
  const items = new Map<string, WorkItem>();
  for await (const item of client.workItems.list({ limit: 100 })) items.set(item.id, item);
  return items;
}

/** Sends a batch as text: JavaScript would round its numbers. */
export function sendAsText(
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string },
  items: readonly HostileItem[],
): Promise<Response> {
  const inputs = items.map(
    ({ externalId, type, attributes }) =>
      `{"external_id":${JSON.stringify(externalId)},"type":${JSON.stringify(type)},"custom_attributes":${attributes}}`,
  );
  return fetch(`${baseUrl}/v1/work_items/batch`, {
    method: "POST",
    headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" },
    body: `{"work_items":[${inputs.join(",")}]}`,
  });
}

/** What a copy must have: the items as the service lists them, the hostile ones with the values that were sent. */
export async function itemsToCopy(client: Client): Promise<Map<string, CopiedItem>> {
  const sent = new Map(HOSTILE_ITEMS.map((item) => [item.externalId, item.attributes]));
  return new Map(
    [...(await listedItems(client))].map(([id, { external_id: externalId, type, custom_attributes: attributes }]) => [
      id,
      { externalId, type, attributes: asCopied(sent.get(externalId) ?? JSON.stringify(attributes)) },
    ]),
  );
}

async function apply(client: Client, items: Iterable<WorkItemInput>): Promise<void> {
  for await (const { status, error } of client.workItems.apply(items))
    if (status === "error") throw new Error(String(error));
}

/** Creates work items `<name>-<number>`. */
export async function createItems(client: Client, name: string, count: number): Promise<void> {
  function* items() {
    for (let number = 0; number < count; number++) {
      yield { external_id: `${name}-${number}`, type: name, custom_attributes: { number } };
    }
  }
  await apply(client, items());
}

/** Makes changes of every kind: updates, deletions, restores, events and new items. */
export async function changeItems(client: Client, name: string): Promise<void> {
  const items = [...(await listedItems(client)).values()];
  const [deleted, restored, updated, withEvent] = [
    items.slice(0, 7),
    items.slice(7, 12),
    items.slice(12, 20),
    items[20],
  ];
  for (const { id } of [...deleted, ...restored]) await client.workItems.delete(id);
  const changed = updated.map(({ external_id: id }) => ({
    external_id: id,
    type: name,
    completed_at: "2026-03-01T09:00:00Z",
  }));
  const again = restored.map(({ external_id: id }) => ({ external_id: id }));
  await apply(client, [...changed, ...again]);
  await client.workItems.upsertEvent(withEvent?.id ?? "", { external_id: name, content: "changed" });
  await createItems(client, name, 5);
}

/** Waits until the feed shows everything that was written before. */
export async function feedIsComplete(client: Client): Promise<void> {
  const signal = AbortSignal.timeout(120_000);
  const feed = client.changes({ after: "now", follow: true, signal });
  const first = feed.next();
  const externalId = `last-${crypto.randomUUID()}`;
  await apply(client, [{ external_id: externalId }]);
  for (let { value, done } = await first; done !== true; { value, done } = await feed.next()) {
    if (value && "external_id" in value && value.external_id === externalId) return;
  }
}
