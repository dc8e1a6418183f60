import { encodeCursor } from "../store/lists/cursor.ts";
import type { Organization } from "../organizations/organization.ts";
import type { CountFitting } from "../store/lists/page.ts";
import type { ItemWithEvents } from "./read-work-item.ts";
import type { WorkItemEventResponse } from "./work-item.ts";
import { toEventResponse, toWorkItemResponse } from "./work-item-response.ts";

/** Scope of the cursors in one item's list of events. */
export function eventsScope(organization: Organization, itemId: string) {
  return { organization, list: `work_items/${itemId}/events`, filters: {} };
}

function sortTextOf({ occurred_at: at, created_at: created, id }: WorkItemEventResponse): string {
  return `${at ?? "~"} ${created} ${id}`;
}

/**
 * The response of get, create and update. Events are sorted by `occurred_at`, then `created_at`; those without
 * `occurred_at` come last. If not all of them fit, `meta.events.next` is the cursor for the rest.
 */
export function respondWithWorkItem(organization: Organization, found: ItemWithEvents, countFitting: CountFitting) {
  const data = toWorkItemResponse(found.id, found.item);
  const events = found.events.map(toEventResponse);
  const fitting = countFitting(events, data);
  const after = fitting < events.length ? found.events[fitting - 1]?.sk : found.eventsAfter;
  const sorted = events
    .slice(0, fitting)
    .map((event) => ({ event, sortText: sortTextOf(event) }))
    .toSorted((a, b) => (a.sortText < b.sortText ? -1 : 1));
  return {
    body: {
      data: { ...data, events: sorted.map(({ event }) => event) },
      ...(after !== undefined && {
        meta: { events: { next: encodeCursor(eventsScope(organization, found.id), after) } },
      }),
    },
    version: found.version,
  };
}
