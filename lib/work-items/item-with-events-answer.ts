import { ANSWER_MAX_BYTES, countFitting, jsonBytes } from "../http/answer-size.ts";
import { etagOf } from "../http/etag.ts";
import { encodeCursor } from "../listing/cursor.ts";
import type { Organization } from "../organizations/organization.ts";
import type { WorkItemEventResponse } from "./work-item.ts";
import { toEventResponse, toWorkItemResponse } from "./work-item-record.ts";
import type { ItemWithEvents } from "./work-item-store.ts";

/** Scope of the cursors over one item's events. */
export const eventsScope = (organization: Organization, itemId: string) => ({
  organization,
  list: `work_items/${itemId}/events`,
  filters: {},
});

const byOccurrence = (a: WorkItemEventResponse, b: WorkItemEventResponse): number => {
  const [left, right] = [a, b].map((event) => `${event.occurred_at ?? "~"} ${event.created_at} ${event.id}`) as [
    string,
    string,
  ];
  return left < right ? -1 : 1;
};

/**
 * An item as get, create and update answer it. Events are sorted by `occurred_at`, then `created_at`; those without
 * `occurred_at` come last. Where they do not fit in 5 MB, `meta.events.next` is the cursor to read the others with.
 */
export const itemWithEventsAnswer = (organization: Organization, found: ItemWithEvents) => {
  const data = toWorkItemResponse(found.id, found.item);
  const events = found.events.map(toEventResponse);
  const fitting = countFitting(events, ANSWER_MAX_BYTES - jsonBytes(data));
  const after = fitting < events.length ? found.events[fitting - 1]?.sk : found.eventsAfter;
  return {
    body: {
      data: { ...data, events: events.slice(0, fitting).toSorted(byOccurrence) },
      ...(after !== undefined && {
        meta: { events: { next: encodeCursor(eventsScope(organization, found.id), after) } },
      }),
    },
    headers: { etag: etagOf(found.version) },
  };
};
