import { PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { CONFLICT_CAP_MS, retry } from "../retry.ts";
import { isoTime } from "../clock.ts";
import { contentHash } from "../content-hash.ts";
import { writeConditionally } from "../store/conditional-write.ts";
import { WRITE_WITHIN_MS } from "../store/optimistic-write.ts";
import { createRecordStore } from "../store/record-store.ts";
import type { Attributes } from "../aws/attribute-values.ts";
import {
  attemptOn,
  type RecordKey,
  resultOfAttempt,
  type StoredRecord,
  versionedBy,
  withoutNulls,
} from "../store/versioned-record.ts";
import { ExternalIdTakenError, IdempotencyKeyReusedError, InvalidInputError, under } from "../errors.ts";
import type { Organization } from "../organizations/organization.ts";
import { PARTITION_KEY } from "../resources.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { planApply, planEvent } from "./plan-apply.ts";
import { createGetWorkItem, type ItemWithEvents } from "./read-work-item.ts";
import type { WorkItem, WorkItemEvent, WorkItemInput } from "./work-item.ts";
import { attributesOf, eventKeyOf, itemIdOf, itemKeyOf, type KeyedEvent, workItemFrom } from "./work-item-record.ts";

/** DynamoDB's limit for one transaction. */
const TRANSACTION_MAX_BYTES = 4_000_000;
/** Added to each record's JSON for attribute names and keys. */
const RECORD_OVERHEAD_BYTES = 400;

/** The `Idempotency-Key` of a create request, and the request's body. */
export interface CreateKey {
  readonly key: string;
  readonly content: WorkItemInput;
}
/** A created item; if an earlier request created it, as it is now. */
export type CreatedWorkItem = ItemWithEvents & {
  readonly outcome: "created" | "unchanged";
  /** Whether the item and its events are unchanged since they were created. */
  readonly isUntouched: boolean;
};
/** Hashes of key and body, which are stored with the created item. */
const storedCreateKeySchema = z.object({ key: z.string(), body: z.string() });

function hashesOf({ key, content }: CreateKey): z.output<typeof storedCreateKeySchema> {
  return { key: contentHash(key), body: contentHash(content) };
}

/** The events of an input. Inputs for the same event are merged in order. */
function eventsOf(organization: Organization, itemId: string, input: WorkItemInput, now: string): KeyedEvent[] {
  const byKey = new Map<string, RecordKey & { readonly event: WorkItemEvent }>();
  for (const event of input.events ?? []) {
    const key = eventKeyOf(organization.id, itemId, event.external_id);
    byKey.set(key.sk, { ...key, event: planEvent(byKey.get(key.sk)?.event ?? null, [event], now).next });
  }
  const events = [...byKey.values()].map(({ pk, sk, event }) => ({ pk, sk, ...event }));
  return events.toSorted((a, b) => (a.sk < b.sk ? -1 : 1));
}

function bytesOf(records: readonly Attributes[]): number {
  return records.reduce((sum, record) => sum + Buffer.byteLength(JSON.stringify(record)) + RECORD_OVERHEAD_BYTES, 0);
}

function takenBy({ deleted_at: deletedAt }: WorkItem): ExternalIdTakenError {
  return new ExternalIdTakenError(
    deletedAt === null
      ? "external_id: is already used by a work item of this organization"
      : "external_id: is already used by a deleted work item; to restore it, send it to POST /v1/work_items/batch",
  );
}

/** Whether a request with this key created the item. @throws IdempotencyKeyReusedError if its body was different */
function wasCreatedBy(createKey: CreateKey | undefined, record: StoredRecord): boolean {
  const { data: stored } = storedCreateKeySchema.safeParse(record["create_key"]);
  const sent = createKey && hashesOf(createKey);
  if (sent === undefined || stored?.key !== sent.key) return false;
  if (stored.body === sent.body) return true;
  throw new IdempotencyKeyReusedError("with another body");
}

/**
 * Creates an item. With events it is one transaction, so that a failed create leaves nothing behind. A repeated request
 * with the same `createKey` returns the current item.
 * @throws ExternalIdTakenError, InvalidInputError (too large, or the key was used with another body), StoreBusyError
 */
export function createCreateWorkItem(runtime: RuntimeWith<"workItems">) {
  const { dynamodb, environment, clock } = runtime;
  const table = environment.WORK_ITEMS_TABLE;
  const records = createRecordStore(runtime);
  const getWorkItem = createGetWorkItem(runtime);

  /** @returns false if the record must be read to find out whether the item was created */
  const write = async (item: Attributes, events: readonly Attributes[]): Promise<boolean> => {
    const condition = `attribute_not_exists(${PARTITION_KEY})`;
    const put = { TableName: table, Item: withoutNulls(item), ConditionExpression: condition };
    const puts = events.map((event) => ({ Put: { TableName: table, Item: withoutNulls(event) } }));
    const outcome = await writeConditionally(
      dynamodb,
      // A transaction costs twice the units of a put.
      puts.length === 0 ? new PutCommand(put) : new TransactWriteCommand({ TransactItems: [{ Put: put }, ...puts] }),
    );
    if (outcome.kind === "refused" || outcome.kind === "outage") throw outcome.error;
    return outcome.kind === "written";
  };

  return async (organization: Organization, input: WorkItemInput, createKey?: CreateKey): Promise<CreatedWorkItem> => {
    const key = itemKeyOf(organization.id, input.external_id);
    const id = itemIdOf(key);
    const now = isoTime(clock());
    const plan = planApply(null, input.external_id, input, now);
    if (plan.outcome === "error") throw new InvalidInputError([under("work_item", plan.error)]);
    const attempt = attemptOn(undefined);
    const versioned = versionedBy(undefined, attempt);
    const item = {
      ...key,
      ...attributesOf(organization, id, plan.next),
      ...versioned,
      ...(createKey && { create_key: hashesOf(createKey) }),
    };
    const events = eventsOf(organization, id, input, now);
    const versionedEvents = events.map((event) => ({ ...event, ...versioned }));
    if (bytesOf([item, ...versionedEvents]) > TRANSACTION_MAX_BYTES) {
      const message =
        "is too large with its events for one create; create it with fewer events and add the others afterwards";
      throw new InvalidInputError([{ path: ["work_item"], code: "too_big", message }]);
    }
    const shown = { id, item: plan.next, version: 1, events, eventsAfter: undefined };
    const created = { ...shown, isUntouched: true, outcome: "created" } as const;
    const until = clock() + WRITE_WITHIN_MS;
    const isOver = () => clock() >= until;
    return retry({ isOver, cap: CONFLICT_CAP_MS, message: "the store is busy; try again" }, async () => {
      if (await write(item, versionedEvents)) return created;
      const record = await records.readOne(key);
      if (resultOfAttempt(attempt, record) === "written") return created;
      if (record !== undefined) {
        const existing = workItemFrom(record);
        if (existing !== null && !(wasCreatedBy(createKey, record) && existing.deleted_at === null))
          throw takenBy(existing);
        return { ...(await getWorkItem(organization.id, id)), outcome: "unchanged" } as const;
      }
      return undefined;
    });
  };
}
