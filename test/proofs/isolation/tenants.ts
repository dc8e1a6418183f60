import { routes } from "../../../functions/routes.ts";
import { create as createRecordConversation } from "../../../functions/record-conversation-upload.ts";
import type { Route } from "../../../lib/http/route.ts";
import { createTestClock } from "../../support/clock.ts";
import { createHandlers, type RouteName } from "../../support/handlers.ts";
import { type ApiRequest, type ApiResponse, call, createTestOrganization } from "../../support/organization.ts";
import { createTestRuntime } from "../../support/runtime.ts";

/** External ids that both organizations use, for all kinds of things. */
export const EXTERNAL_IDS = ["shared 1", "shared 2", "shared 3"] as const;
/** `Idempotency-Key` that both organizations use. */
const KEY = "shared key";

/** An organization, its key, and the ids of what it has. */
export interface Tenant {
  readonly id: string;
  readonly key: string;
  readonly items: readonly string[];
  readonly events: readonly string[];
  readonly jobs: readonly string[];
  readonly conversations: readonly string[];
}

/** Two organizations that have the same external_ids. */
export const createTenants = async () => {
  const clock = createTestClock();
  const runtime = await createTestRuntime({ clock });
  const handlers = await createHandlers(runtime);
  const recordConversation = createRecordConversation(runtime);

  const request = (name: RouteName, key: string, changes: ApiRequest = {}): Promise<ApiResponse> => {
    const route: Route = routes[name];
    // So that each call finds the whole limit of its organization.
    clock.advance(10_000);
    return call(handlers[name], { method: route.method, resource: route.path, key, ...changes });
  };
  const idOf = ({ text }: ApiResponse): string => (JSON.parse(text) as { data: { id: string } }).data.id;

  const createTenant = async (): Promise<Tenant> => {
    const { organization, key } = await createTestOrganization(runtime);
    const items: string[] = [];
    const events: string[] = [];
    const jobs: string[] = [];
    const conversations: string[] = [];
    for (const [index, external_id] of EXTERNAL_IDS.entries()) {
      const completed_at = index === 0 ? null : "2026-01-01T00:00:00Z";
      const work_item = { external_id, completed_at, agent_external_id: "agent", type: "call" };
      items.push(
        idOf(await request("createWorkItem", key, { body: { work_item }, headers: { "idempotency-key": KEY } })),
      );
      for (const event of EXTERNAL_IDS) {
        const body = { event: { external_id: event, content: organization.id } };
        const params = { id: items.at(-1) ?? "" };
        events.push(idOf(await request("upsertWorkItemEvent", key, { params, body })));
      }
      const upload = {
        filename: `${external_id}.csv`,
        size: 100,
        mapping: { fields: { external_id: { column: "id" } } },
      };
      jobs.push(
        idOf(
          await request("uploadWorkItems", key, { body: { upload }, headers: { "idempotency-key": `${KEY}${index}` } }),
        ),
      );
      const conversation = { organization: organization.id, external_id, status: "pending", source: "phone" };
      conversations.push((await recordConversation(conversation)).id);
    }
    return { id: organization.id, key, items, events, jobs, conversations };
  };
  return {
    request,
    owner: await createTenant(),
    stranger: await createTenant(),
    /** Makes an organization that has nothing. */
    createEmpty: async () => {
      const { organization, key } = await createTestOrganization(runtime);
      return { id: organization.id, key };
    },
  };
};
/** Organizations and how they call the service. */
export type Tenants = Awaited<ReturnType<typeof createTenants>>;
