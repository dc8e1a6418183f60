import { createHash } from "node:crypto";
import { GetCommand, QueryCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { converge, type Converged } from "../aws/converge.ts";
import { createRecordStore, keyText, type RecordStore } from "../aws/record-store.ts";
import type { Runtime } from "../aws/runtime.ts";
import {
  attemptOn,
  fateOf,
  type RecordKey,
  type StoredRecord,
  versionedBy,
  withoutNulls,
} from "../aws/versioned-record.ts";
import { backOff } from "../backoff.ts";
import { isoTime } from "../clock.ts";
import { ExternalIdTakenError, InvalidInputError, NotFoundError, StoreBusyError } from "../errors.ts";
import { ANSWER_MAX_BYTES } from "../http/answer-size.ts";
import type { Organization } from "../organizations/organization.ts";
import { type Changes, planApply, planEvent } from "./plan-apply.ts";
import type { EventInput, WorkItem, WorkItemEvent, WorkItemInput } from "./work-item.ts";
import {
  attributesOf,
  type CreateKey,
  EVENT_SORT_KEY_PREFIX,
  eventKeyOf,
  itemIdOf,
  itemKey,
  itemKeyOf,
  type KeyedEvent,
  keyedEventFrom,
  partitionOf,
  workItemEventFrom,
  workItemFrom,
} from "./work-item-record.ts";

const NO_SUCH_ITEM = "work item not found";
/** DynamoDB takes 4 MB in one transaction; the rest is for attribute names and keys. */
const TRANSACTION_MAX_BYTES = 4_000_000;
const RECORD_OVERHEAD_BYTES = 400;
const ATTEMPTS_MAX = 8;

/** An item and the events read with it. */
export interface ItemWithEvents {
  readonly id: string;
  readonly item: WorkItem;
  readonly version: number;
  readonly events: readonly KeyedEvent[];
  /** Sort key of the last event read, where there may be more. */
  readonly eventsAfter: string | undefined;
}

/** Throws where the caller did not mean this version of the item. */
export type AssertVersion = (version: number) => void;

type StoreRuntime = Pick<Runtime<{ workItems: { actions: []; keys: [] } }>, "dynamodb" | "clock" | "environment">;

const assertVisible = (record: StoredRecord | undefined): WorkItem => {
  const item = workItemFrom(record);
  if (item === null || item.deleted_at !== null) throw new NotFoundError(NO_SUCH_ITEM);
  return item;
};

const settle = <R>(converged: Converged<R> | undefined): Exclude<Converged<R>, { error: string }> => {
  if (converged === undefined || "error" in converged) {
    throw new StoreBusyError(converged?.error ?? "not attempted");
  }
  return converged;
};

export const createWorkItemStore = ({ dynamodb, clock, environment }: StoreRuntime) => {
  const table = environment.WORK_ITEMS_TABLE;
  const records = createRecordStore({ dynamodb, table, path: "native" });
  const now = () => isoTime(clock());

  /** One strongly consistent Query: the item sorts before its events. Stops at 5 MB. */
  const queryItem = async (organization: string, id: string) => {
    const found: StoredRecord[] = [];
    let bytes = 0;
    let startKey: Record<string, unknown> | undefined;
    do {
      const page = await dynamodb.send(
        new QueryCommand({
          TableName: table,
          ConsistentRead: true,
          KeyConditionExpression: "pk = :pk",
          ExpressionAttributeValues: { ":pk": partitionOf(organization, id) },
          ...(startKey && { ExclusiveStartKey: startKey }),
        }),
      );
      found.push(...((page.Items ?? []) as StoredRecord[]));
      bytes += Buffer.byteLength(JSON.stringify(page.Items ?? []));
      startKey = page.LastEvaluatedKey;
    } while (startKey && bytes < ANSWER_MAX_BYTES);
    const item = found[0]?.sk.startsWith(EVENT_SORT_KEY_PREFIX) === false ? found[0] : undefined;
    const events = (item ? found.slice(1) : found).map(keyedEventFrom);
    return { record: item, events, eventsAfter: startKey?.["sk"] as string | undefined };
  };

  const readOne = async (key: RecordKey) => {
    const { Item } = await dynamodb.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }));
    return new Map(Item ? [[keyText(key), Item as StoredRecord]] : []);
  };

  /** @throws NotFoundError also where the item is deleted */
  const get = async (organization: string, id: string): Promise<ItemWithEvents> => {
    const { record, events, eventsAfter } = await queryItem(organization, id);
    return { id, item: assertVisible(record), version: record?.version ?? 0, events, eventsAfter };
  };

  /**
   * Merges changes into an item.
   * @throws NotFoundError, PreconditionFailedError, InvalidInputError (too large after the merge), StoreBusyError
   */
  const update = async (
    organization: Organization,
    id: string,
    changes: Changes,
    options: { readonly assertVersion?: AssertVersion | undefined; readonly deadline: number },
  ): Promise<ItemWithEvents> => {
    let read = await queryItem(organization.id, id);
    const key = itemKey(organization.id, id);
    const store: RecordStore = {
      ...records,
      read: async () => {
        read = await queryItem(organization.id, id);
        return new Map(read.record ? [[keyText(key), read.record]] : []);
      },
    };
    const target = {
      key,
      plan: (stored: StoredRecord | undefined) => {
        const current = assertVisible(stored);
        options.assertVersion?.(stored?.version ?? 0);
        const plan = planApply(current, current.external_id, changes, now());
        if (plan.outcome === "error") throw new InvalidInputError(`work_item.${plan.error}`);
        return {
          set: plan.outcome === "unchanged" ? null : attributesOf(organization, id, plan.next),
          result: plan.next,
        };
      },
    };
    const first = new Map(read.record ? [[keyText(key), read.record]] : []);
    const [converged] = await converge(store, [target], { clock, deadline: options.deadline, read: first });
    const { result, record } = settle(converged);
    return { id, item: result, version: record?.version ?? 0, events: read.events, eventsAfter: read.eventsAfter };
  };

  /**
   * Soft-deletes an item; of an item already deleted it changes nothing, whatever the precondition.
   * @throws NotFoundError where the id was never used; PreconditionFailedError, StoreBusyError
   */
  const remove = async (
    organization: Organization,
    id: string,
    options: { readonly assertVersion?: AssertVersion | undefined; readonly deadline: number },
  ): Promise<void> => {
    const key = itemKey(organization.id, id);
    const store: RecordStore = { ...records, read: () => readOne(key) };
    const target = {
      key,
      plan: (stored: StoredRecord | undefined) => {
        const item = workItemFrom(stored);
        if (item === null || stored === undefined) throw new NotFoundError(NO_SUCH_ITEM);
        if (item.deleted_at !== null) return { set: null, result: null };
        options.assertVersion?.(stored.version);
        const at = now();
        return { set: attributesOf(organization, id, { ...item, deleted_at: at, updated_at: at }), result: null };
      },
    };
    const [converged] = await converge(store, [target], { clock, deadline: options.deadline });
    settle(converged);
  };

  /**
   * Creates or updates one event of an item.
   * @throws NotFoundError where the item is not there or deleted; StoreBusyError
   */
  const upsertEvent = async (organization: Organization, itemId: string, input: EventInput, deadline: number) => {
    const item = itemKey(organization.id, itemId);
    const key = eventKeyOf(organization.id, itemId, input.external_id);
    let owner: StoredRecord | undefined;
    const store: RecordStore = {
      ...records,
      read: async () => {
        const read = await records.read([item, key]);
        owner = read.get(keyText(item));
        return read;
      },
    };
    const target = {
      key,
      plan: (stored: StoredRecord | undefined) => {
        assertVisible(owner);
        const plan = planEvent(workItemEventFrom(stored), [input], now());
        return { set: plan.outcome === "unchanged" ? null : { ...plan.next }, result: plan };
      },
    };
    const [converged] = await converge(store, [target], { clock, deadline });
    const { outcome, next } = settle(converged).result;
    return { created: outcome === "created", event: { ...key, ...next } };
  };

  /**
   * Creates an item with its events in one transaction, so that a failing create leaves nothing.
   * @param createKey key and body of an idempotent create: the same pair again gives the current item
   * @throws ExternalIdTakenError, InvalidInputError (too large for one transaction, or the key with another body), StoreBusyError
   */
  const create = async (
    organization: Organization,
    input: WorkItemInput,
    createKey?: CreateKey,
  ): Promise<ItemWithEvents> => {
    const key = itemKeyOf(organization.id, input.external_id);
    const id = itemIdOf(key);
    const at = now();
    const plan = planApply(null, input.external_id, input, at);
    if (plan.outcome === "error") throw new InvalidInputError(`work_item.${plan.error}`);
    const byKey = new Map<string, { readonly sk: string; readonly event: WorkItemEvent }>();
    for (const event of input.events ?? []) {
      const { sk } = eventKeyOf(organization.id, id, event.external_id);
      byKey.set(sk, { sk, event: planEvent(byKey.get(sk)?.event ?? null, [event], at).next });
    }
    const attempt = attemptOn(undefined);
    const versioned = versionedBy(undefined, attempt);
    const item = {
      ...key,
      ...attributesOf(organization, id, plan.next),
      ...versioned,
      ...(createKey && { create_key: { key: hashOf(createKey.key), body: hashOf(createKey.body) } }),
    };
    const events = [...byKey.values()].map(({ sk, event }) => ({ pk: key.pk, sk, ...event, ...versioned }));
    const bytes = [item, ...events].reduce(
      (sum, record) => sum + Buffer.byteLength(JSON.stringify(record)) + RECORD_OVERHEAD_BYTES,
      0,
    );
    if (bytes > TRANSACTION_MAX_BYTES) {
      throw new InvalidInputError(
        "work_item: is too large with its events for one create; create it with fewer and send the others afterwards",
      );
    }
    for (let tries = 0; tries < ATTEMPTS_MAX; tries++) {
      if (tries > 0) await backOff(tries);
      const outcome = await dynamodb
        .send(
          new TransactWriteCommand({
            TransactItems: [
              { Put: { TableName: table, Item: withoutNulls(item), ConditionExpression: "attribute_not_exists(pk)" } },
              ...events.map((event) => ({ Put: { TableName: table, Item: withoutNulls(event) } })),
            ],
          }),
        )
        .then(() => "written" as const, cancelled);
      const created = { id, item: plan.next, version: 1, events: sortedByKey(events), eventsAfter: undefined };
      if (outcome === "written") return created;
      const { record, ...rest } = await queryItem(organization.id, id);
      if (fateOf(attempt, record) === "applied") return created;
      if (record === undefined) continue;
      const known = workItemFrom(record) as WorkItem;
      const knownKey = record["create_key"] as CreateKey | undefined;
      if (createKey && knownKey?.key === hashOf(createKey.key)) {
        if (knownKey.body !== hashOf(createKey.body)) {
          throw new InvalidInputError("Idempotency-Key: was used with another body");
        }
        if (known.deleted_at === null) return { id, item: known, version: record.version, ...rest };
      }
      throw new ExternalIdTakenError(
        known.deleted_at === null
          ? "external_id: is already used by a work item of this organization"
          : "external_id: is already used by a deleted work item; apply it by POST /v1/work_items/batch to restore it",
      );
    }
    throw new StoreBusyError("the store is busy; try again");
  };

  /** Records an evaluation result, from 0 to 1; null takes it back. @throws NotFoundError, StoreBusyError */
  const recordQaScore = async (organization: string, id: string, qaScore: number | null, deadline: number) => {
    const key = itemKey(organization, id);
    const target = {
      key,
      plan: (stored: StoredRecord | undefined) => {
        const item = assertVisible(stored);
        const same = item.qa_score === qaScore;
        return { set: same ? null : { qa_score: qaScore, updated_at: now() }, result: qaScore };
      },
    };
    const [converged] = await converge({ ...records, read: () => readOne(key) }, [target], { clock, deadline });
    settle(converged);
  };

  /** One page of an item's events in the order of their keys. @throws NotFoundError */
  const listEvents = async (organization: string, id: string, after: string | undefined, limit: number) => {
    const [owner, page] = await Promise.all([
      dynamodb.send(new GetCommand({ TableName: table, Key: itemKey(organization, id), ConsistentRead: true })),
      dynamodb.send(
        new QueryCommand({
          TableName: table,
          ConsistentRead: true,
          KeyConditionExpression: "pk = :pk AND sk > :after",
          ExpressionAttributeValues: { ":pk": partitionOf(organization, id), ":after": after ?? EVENT_SORT_KEY_PREFIX },
          Limit: limit,
        }),
      ),
    ]);
    assertVisible(owner.Item as StoredRecord | undefined);
    return {
      events: ((page.Items ?? []) as StoredRecord[]).map(keyedEventFrom),
      more: page.LastEvaluatedKey !== undefined,
    };
  };

  return { get, update, remove, upsertEvent, create, recordQaScore, listEvents };
};

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64url");

const sortedByKey = (events: readonly KeyedEvent[]): KeyedEvent[] => events.toSorted((a, b) => (a.sk < b.sk ? -1 : 1));

/** Failed conditions, conflicts and lost answers alike: what happened is read from the table. Anything else is thrown on. */
const cancelled = (error: unknown): "unclear" => {
  const known = [
    "TransactionCanceledException",
    "TransactionInProgressException",
    "TimeoutError",
    "InternalServerError",
  ];
  const name = error instanceof Error ? error.name : "";
  if (known.includes(name) || /Throttl|LimitExceeded|Unavailable|ECONN|socket/i.test(`${name} ${String(error)}`))
    return "unclear";
  throw error;
};
