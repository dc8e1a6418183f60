import { changePages, changesQuery, type ChangesPage } from "work-items-client/changes.ts";
import type { Change, WorkItemEvent, WorkItemInput } from "work-items-client/client.ts";
import { inputOf } from "work-items-client/client.ts";
import type { Page } from "work-items-client/http.ts";
import type { CommandCall } from "./command.ts";
import { keepingDigits } from "./service-client.ts";

/** The most events of one work item in a call. */
const EVENTS_PER_ITEM_MAX = 99;

/** An event as an input. Events that were deleted have none. */
function eventInputOf({ external_id, actor, content, occurred_at, deleted_at }: WorkItemEvent) {
  if (deleted_at !== undefined) return [];
  const { email: actor_email, name: actor_name, external_id: actor_external_id } = actor;
  const given = Object.entries({ actor_email, actor_name, actor_external_id, content, occurred_at });
  return [{ external_id, ...Object.fromEntries(given.filter(([, value]) => value !== null && value !== undefined)) }];
}

/** An item in lines that `batch` applies one after the other: each has as many events as a call takes. */
function* linesOf(item: WorkItemInput, events: readonly WorkItemEvent[]) {
  // In an order that two exports of the same events share.
  const inputs = events.flatMap(eventInputOf).toSorted((a, b) => (a.external_id < b.external_id ? -1 : 1));
  yield { ...item, events: inputs.slice(0, EVENTS_PER_ITEM_MAX) };
  for (let from = EVENTS_PER_ITEM_MAX; from < inputs.length; from += EVENTS_PER_ITEM_MAX) {
    yield { external_id: item.external_id, events: inputs.slice(from, from + EVENTS_PER_ITEM_MAX) };
  }
}

/** Prints all work items with their events as `batch` reads them. Whatever changes meanwhile is printed again. */
export async function exportForBatch({ terminal, client }: CommandCall): Promise<void> {
  const { http } = client();
  const readPage = (after: string | number | undefined) => {
    const query = changesQuery(after, { withEvents: true });
    return keepingDigits<ChangesPage>(http.GET("/v1/work_items/changes", { params: { query }, parseAs: "text" }));
  };
  /** The events that don't fit in the feed's page. */
  async function* furtherEvents({ id, events_next: next }: Change & { readonly events_next?: string | undefined }) {
    for (let cursor = next; cursor !== undefined;) {
      const params = { path: { id }, query: { cursor } };
      const call = http.GET("/v1/work_items/{id}/events", { params, parseAs: "text" });
      const { data, meta }: Page<WorkItemEvent> = await keepingDigits(call);
      yield* data;
      cursor = meta.page.next;
    }
  }
  for await (const { data } of changePages(readPage, {})) {
    for (const change of data) {
      // Erased ones have no external ID.
      if (!("external_id" in change) || change.deleted_at) continue;
      const events = [...(change.events ?? [])];
      for await (const event of furtherEvents(change)) events.push(event);
      for (const line of linesOf(inputOf(change), events)) terminal.printData(JSON.stringify(line));
    }
    // Wait until the reader has everything.
    await terminal.writeData("");
  }
}
