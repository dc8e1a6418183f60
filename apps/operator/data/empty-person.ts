import type { RuntimeWith } from "@work-items/lib/aws/runtime.ts";
import { isoTime } from "@work-items/lib/clock.ts";
import { StoreBusyError } from "@work-items/lib/errors.ts";
import { type OnDamaged, passDamaged } from "@work-items/lib/store/decode-record.ts";
import { listingIndexes } from "@work-items/lib/store/lists/partition.ts";
import { optimisticWrite, type WriteTarget } from "@work-items/lib/store/optimistic-write.ts";
import { createRecordStore } from "@work-items/lib/store/record-store.ts";
import type { RecordKey } from "@work-items/lib/store/versioned-record.ts";
import { ITEM_SORT_KEY, workItemEventFrom, workItemFrom } from "@work-items/lib/work-items/work-item-record.ts";
import { layersDropped } from "@work-items/lib/work-items/undo/undo.ts";
import { personFields } from "@work-items/lib/work-items/field-definition.ts";
import { EVENT_FIELDS, WORK_ITEM_FIELDS } from "@work-items/lib/work-items/work-item-fields.ts";
import type { PersonAddress } from "./person-address.ts";

const NO_AGENT = nullsOf(personFields(WORK_ITEM_FIELDS, "agent"));
const NO_AGENT_ENTRY = { [listingIndexes.agents.partitionKey]: undefined };
const NO_ACTOR = nullsOf(personFields(EVENT_FIELDS, "actor"));

/** Null for each field of a person. */
function nullsOf<N extends string>(names: Readonly<Record<string, N>>) {
  return Object.fromEntries(Object.values(names).map((name) => [name, null])) as Readonly<Record<N, null>>;
}

function isRecordOfItem({ sk }: RecordKey): boolean {
  return sk === ITEM_SORT_KEY;
}

/**
 * The write that empties one record, unless its agent or actor is someone else by then. It drops all layers, since an undo could
 * bring the person back. Emptying an event doesn't count as a change of its item, so the import's undo may still delete the item.
 */
function targetOf(key: RecordKey, person: PersonAddress, now: string): WriteTarget<boolean> {
  return {
    key,
    plan: (stored) => {
      if (isRecordOfItem(key)) {
        const item = workItemFrom(stored);
        const isAgent = person.equals(item?.agent_email);
        if (item === null || !(isAgent || person.isInLayersOf(stored))) return { set: null, result: false };
        // The item stays in the other lists.
        const next = isAgent ? { ...NO_AGENT, updated_at: now, ...NO_AGENT_ENTRY } : {};
        return { set: { ...next, ...layersDropped(stored, Date.parse(now)) }, result: true };
      }
      const event = workItemEventFrom(stored);
      const isActor = person.equals(event?.actor_email);
      if (event === null || !(isActor || person.isInLayersOf(stored))) return { set: null, result: false };
      const next = isActor ? NO_ACTOR : {};
      return { set: { ...next, ...layersDropped(stored, Date.parse(now)) }, result: true };
    },
  };
}

/**
 * Empties the agent of items and the actor of events, and drops what undos would need of them.
 * @param found items and events that had the person, or had it before an import, when they were read
 * @param onDamaged called with each record that can't be read: it keeps the person
 * @returns how many items and events were emptied, or would be
 * @throws StoreBusyError
 */
export async function emptyPerson(
  runtime: RuntimeWith<"workItems">,
  person: PersonAddress,
  found: readonly RecordKey[],
  dryRun: boolean,
  onDamaged: OnDamaged,
): Promise<{ items: number; events: number }> {
  const { clock } = runtime;
  const keys = found.map(({ pk, sk }) => ({ pk, sk }));
  const targets = keys.map((key) => targetOf(key, person, isoTime(clock())));
  const options = { clock, deadline: Infinity, dryRun };
  const results = await optimisticWrite(createRecordStore(runtime), targets, options);
  for (const result of results) {
    if ("error" in result)
      passDamaged(onDamaged)(result.cause ?? new StoreBusyError(`${result.error}; run the command again`));
  }
  const emptied = keys.filter((_, index) => {
    const result = results[index];
    return result !== undefined && "result" in result && result.result;
  });
  const items = emptied.filter(isRecordOfItem).length;
  return { items, events: emptied.length - items };
}
