import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { countFitting } from "../lib/http/answer-size.ts";
import { type ApiHandler, endpoint } from "../lib/http/endpoint.ts";
import { decodeCursor, encodeCursor } from "../lib/listing/cursor.ts";
import { eventsScope } from "../lib/work-items/item-with-events-answer.ts";
import { toEventResponse } from "../lib/work-items/work-item-record.ts";
import { createWorkItemStore } from "../lib/work-items/work-item-store.ts";
import { routes } from "./routes.ts";

const route = routes.listWorkItemEvents;

export const create = (runtime: Runtime<typeof route.touches>): ApiHandler => {
  const store = createWorkItemStore(runtime);
  return endpoint(route, runtime, async ({ organization, params, query }) => {
    const id = params["id"] ?? "";
    const scope = eventsScope(organization, id);
    const after = query.cursor === undefined ? undefined : decodeCursor(scope, query.cursor);
    const { events, more } = await store.listEvents(organization.id, id, after, query.limit);
    const answers = events.map(toEventResponse);
    const fitting = countFitting(answers);
    const last = more || fitting < events.length ? events[fitting - 1]?.sk : undefined;
    return {
      body: {
        data: answers.slice(0, fitting),
        meta: { page: { ...(last !== undefined && { next: encodeCursor(scope, last) }), limit: query.limit } },
      },
    };
  });
};

export const handler = lambda(route.touches, create);
