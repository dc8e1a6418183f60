import { keyText } from "../../../lib/store/batch-get.ts";
import { createRecordStore } from "../../../lib/store/record-store.ts";
import { workItemId } from "../../../lib/identity.ts";
import type { Organization } from "../../../lib/organizations/organization.ts";
import { createDeleteWorkItem, createUpdateWorkItem } from "../../../lib/work-items/change-work-item.ts";
import { createCreateWorkItem } from "../../../lib/work-items/create-work-item.ts";
import { createUpsertWorkItemEvent } from "../../../lib/work-items/change-work-item-event.ts";
import { eventKeyOf, itemKeyOf, workItemEventFrom, workItemFrom } from "../../../lib/work-items/work-item-record.ts";
import { createTestOrganization } from "../organization.ts";
import type { TestRuntime } from "../runtime.ts";
import { KEPT_TYPE, type TestFile } from "./test-file.ts";

/** Creates an organization as a file expects it. */
export const prepareOrganization = async (
  runtime: TestRuntime,
  { singles }: Pick<TestFile, "singles">,
): Promise<Organization> => {
  const { organization } = await createTestOrganization(runtime);
  const create = createCreateWorkItem(runtime);
  for (const external_id of singles.kept) await create(organization, { external_id, type: KEPT_TYPE });
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

interface Change {
  /** As in `contentOf`. */
  readonly name: string;
  readonly change: object;
  readonly make: () => Promise<unknown>;
}

/** A client that changes some items and events of a file as soon as their rows are applied. */
export const createClient = (runtime: TestRuntime, organization: Organization, file: TestFile) => {
  const update = createUpdateWorkItem(runtime);
  const remove = createDeleteWorkItem(runtime);
  const upsert = createUpsertWorkItemEvent(runtime);
  const idOf = (externalId: string): string => workItemId(organization.id, externalId);
  const options = () => ({ deadline: Date.now() + 20_000 });

  const hasEvents = file.events.length > 0;
  const { singles } = file;
  const patch = (name: string) => ({
    name,
    change: PATCH,
    make: () => update(organization, idOf(name), PATCH, options()),
  });
  const deletion = (name: string) => ({
    name,
    change: { deleted: true },
    make: () => remove(organization, idOf(name), options()),
  });
  const eventChange = (name: string) => ({
    name: eventName(name, "e0"),
    change: CONTENT,
    make: () => upsert(organization, idOf(name), { external_id: "e0", ...CONTENT }, options().deadline),
  });
  /** What is changed, by what must be there before, and how. */
  const waiting = new Map<string, Change>([
    ...singles.patched.map((name) => [name, patch(name)] as const),
    ...singles.deleted.map((name) => [name, deletion(name)] as const),
    ...(hasEvents ? singles.kept.map((name) => [eventName(name, "e0"), patch(name)] as const) : []),
    ...(hasEvents ? singles["event changed"].map((name) => [eventName(name, "e0"), eventChange(name)] as const) : []),
  ]);
  const events = hasEvents ? [...singles.kept, ...singles["event changed"]].map((name) => [name, "e0"] as const) : [];
  const watched = { externalIds: [...singles.patched, ...singles.deleted], events };
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
