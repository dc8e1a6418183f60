import { keyText } from "../../../lib/dynamodb/batch-get.ts";
import { createRecordStore } from "../../../lib/dynamodb/record-store.ts";
import { workItemId } from "../../../lib/identity.ts";
import type { Organization } from "../../../lib/organizations/organization.ts";
import { createDeleteWorkItem, createUpdateWorkItem } from "../../../lib/work-items/change-work-item.ts";
import { createCreateWorkItem } from "../../../lib/work-items/create-work-item.ts";
import { createUpsertWorkItemEvent } from "../../../lib/work-items/upsert-work-item-event.ts";
import { eventKeyOf, itemKeyOf, workItemEventFrom, workItemFrom } from "../../../lib/work-items/work-item-record.ts";
import { createTestOrganization } from "../organization.ts";
import type { TestRuntime } from "../runtime.ts";
import { DELETED, EVENT_CHANGED, KEPT, KEPT_TYPE, PATCHED, type TestFile } from "./test-file.ts";

/** Creates an organization as a file expects it. */
export const prepareOrganization = async (runtime: TestRuntime): Promise<Organization> => {
  const { organization } = await createTestOrganization(runtime);
  await createCreateWorkItem(runtime)(organization, { external_id: KEPT, type: KEPT_TYPE });
  return organization;
};

const eventName = (item: string, event: string): string => `${item} ${event}`;

/**
 * The stored items of a file by their external_ids, and its events by those of item and event, without attributes that
 * differ between runs; null if there is none.
 */
export const contentOf = async (
  runtime: TestRuntime,
  organization: Organization,
  { externalIds, events }: Pick<TestFile, "externalIds" | "events">,
): Promise<Record<string, object | null>> => {
  const itemKeys = externalIds.map((id) => itemKeyOf(organization.id, id));
  const eventKeys = events.map(([item, event]) =>
    eventKeyOf(organization.id, workItemId(organization.id, item), event),
  );
  const read = await createRecordStore(runtime).read([...itemKeys, ...eventKeys]);
  const items = externalIds.map((id, index) => {
    const item = workItemFrom(read.get(keyText(itemKeys[index]!)));
    const { created_at: _created, updated_at: _updated, deleted_at: deleted, ...content } = item ?? {};
    return [id, item && { ...content, deleted: deleted !== null }] as const;
  });
  const made = events.map(([item, event], index) => {
    const stored = workItemEventFrom(read.get(keyText(eventKeys[index]!)));
    const { created_at: _created, ...content } = stored ?? {};
    return [eventName(item, event), stored && content] as const;
  });
  return Object.fromEntries([...items, ...made]);
};

const PATCH = { type: "patched by a client" };
const CONTENT = { content: "changed by a client" };

/** A client that changes some items and events of a file as soon as their rows are applied. */
export const createClient = (runtime: TestRuntime, organization: Organization, file: TestFile) => {
  const update = createUpdateWorkItem(runtime);
  const remove = createDeleteWorkItem(runtime);
  const upsert = createUpsertWorkItemEvent(runtime);
  const idOf = (externalId: string): string => workItemId(organization.id, externalId);
  const options = () => ({ deadline: Date.now() + 20_000 });

  const hasEvents = file.events.length > 0;
  const event = (item: string) => [eventName(item, "e0"), [item, "e0"] as const] as const;
  const [keptEvent, keptKey] = event(KEPT);
  const [changedEvent, changedKey] = event(EVENT_CHANGED);
  /** What is changed, when it is there, and how. */
  const waiting = new Map([
    [PATCHED, { name: PATCHED, change: PATCH, make: () => update(organization, idOf(PATCHED), PATCH, options()) }],
    [DELETED, { name: DELETED, change: { deleted: true }, make: () => remove(organization, idOf(DELETED), options()) }],
    ...(hasEvents
      ? ([
          [keptEvent, { name: KEPT, change: PATCH, make: () => update(organization, idOf(KEPT), PATCH, options()) }],
          [
            changedEvent,
            {
              name: changedEvent,
              change: CONTENT,
              make: () =>
                upsert(organization, idOf(EVENT_CHANGED), { external_id: "e0", ...CONTENT }, options().deadline),
            },
          ],
        ] as const)
      : []),
  ]);
  const watched = { externalIds: [PATCHED, DELETED], events: hasEvents ? [keptKey, changedKey] : [] };
  const changes = new Map<string, object>();
  return {
    /** What was changed, by the names in `contentOf`. */
    changes: changes as ReadonlyMap<string, object>,
    /** Makes the changes that can be made by now. */
    change: async (): Promise<void> => {
      if (waiting.size === 0) return;
      const content = await contentOf(runtime, organization, watched);
      for (const [awaited, { name, change, make }] of waiting) {
        if (!content[awaited]) continue;
        waiting.delete(awaited);
        await make();
        changes.set(name, change);
      }
    },
  };
};
