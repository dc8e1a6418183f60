import type { Context } from "aws-lambda";
import { create as applyBatch } from "../../functions/apply-work-item-batch.ts";
import { create as createItem } from "../../functions/create-work-item.ts";
import { create as deleteItem } from "../../functions/delete-work-item.ts";
import { create as getConversation } from "../../functions/get-conversation-upload.ts";
import { create as getItem } from "../../functions/get-work-item.ts";
import { create as listConversations } from "../../functions/list-conversation-uploads.ts";
import { create as listEvents } from "../../functions/list-work-item-events.ts";
import { create as listItems } from "../../functions/list-work-items.ts";
import { routes } from "../../functions/routes.ts";
import { create as updateItem } from "../../functions/update-work-item.ts";
import { create as upsertEvent } from "../../functions/upsert-work-item-event.ts";
import type { Route } from "../../lib/http/route.ts";
import { parseJson } from "../../lib/json.ts";
import { asDocumented } from "./openapi/documented.ts";
import { apiEvent, type ApiRequest, createTestOrganization } from "./organization.ts";
import { createTestRuntime } from "./runtime.ts";

/** A response with its body parsed. The body's type is open, since tests assert its content. */
export interface ServiceResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
  readonly text: string;
}
/** Any JSON value. */
export interface Json {
  readonly [key: string]: Json;
  readonly [index: number]: Json;
}

/** Makes the functions of the JSON endpoints on new tables, and one organization that calls them. */
export const createTestService = async (options: Parameters<typeof createTestRuntime>[0] = {}) => {
  const runtime = await createTestRuntime(options);
  const { organization, key } = await createTestOrganization(runtime);
  const handlers = {
    applyWorkItemBatch: applyBatch(runtime),
    createWorkItem: createItem(runtime),
    listWorkItems: listItems(runtime),
    getWorkItem: getItem(runtime),
    updateWorkItem: updateItem(runtime),
    deleteWorkItem: deleteItem(runtime),
    upsertWorkItemEvent: upsertEvent(runtime),
    listWorkItemEvents: listEvents(runtime),
    listConversationUploads: listConversations(runtime),
    getConversationUpload: getConversation(runtime),
  };
  const call = async (name: keyof typeof handlers, request: ApiRequest = {}): Promise<ServiceResponse> => {
    const route: Route = routes[name];
    const event = apiEvent({ method: route.method, resource: route.path, key, ...request });
    const response = asDocumented(event, await handlers[name](event, {} as Context));
    return {
      status: response.statusCode,
      headers: (response.headers ?? {}) as Record<string, string>,
      body: (response.body === "" ? {} : parseJson(response.body)) as unknown as Json,
      text: response.body,
    };
  };
  return { runtime, organization, key, call };
};
