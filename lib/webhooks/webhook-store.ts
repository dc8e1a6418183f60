import { crc32 } from "node:zlib";
import { paginateQuery, PutCommand, QueryCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { Attributes } from "../aws/attribute-values.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { isoTime } from "../clock.ts";
import { NotFoundError, StateConflictError } from "../errors.ts";
import { type PartitionKind, partitionKeyOf, resources } from "../resources.ts";
import { CONFLICT_CAP_MS, retry } from "../retry.ts";
import { allItems, readPartition } from "../store/all-items.ts";
import { batchGet, getItem } from "../store/batch-get.ts";
import { changeRecord } from "../store/conditional-update.ts";
import { tryOnce, writeConditionally } from "../store/conditional-write.ts";
import { decoderOf, type OnDamaged, unlessDamaged } from "../store/decode-record.ts";
import type { RecordKey } from "../store/versioned-record.ts";
import { checkAt, type EndpointState, endpointStateSchema, isUnreachable } from "./endpoint-state.ts";
import { rotatableAt, rotated, type Secrets, secretsSchema } from "./signature.ts";
import { type Webhook, webhookRecordSchema } from "./webhook.ts";

/** Identifies a webhook. */
export interface WebhookKey {
  readonly organization: string;
  readonly id: string;
}

/** What stores of webhooks require of a runtime. */
export type WebhookRuntime = RuntimeWith<"webhooks">;

/** A webhook's records, each kind in a partition of its own, because only some functions may read secrets. */
const KINDS = ["WEBHOOK", "WEBHOOK_STATE", "WEBHOOK_SECRET"] as const satisfies readonly PartitionKind[];

/** @throws NotFoundError for an empty id: no webhook has it, and DynamoDB rejects it */
function keyOf(kind: (typeof KINDS)[number], { organization, id }: WebhookKey): RecordKey {
  if (id === "") throw new NotFoundError(NO_WEBHOOK);
  return { pk: partitionKeyOf(kind, organization), sk: id };
}

const dueIndex = resources.webhooks.indexes.due;
/** Partitions of the index, so that its writes aren't limited to one partition's throughput. */
const DUE_PARTITIONS = 8;
/** Ends the index's sort key of an endpoint that can't be reached: the sweep counts them without reading their states. */
const UNREACHABLE = "#unreachable";
const CHANGING = { attempts: 20, cap: CONFLICT_CAP_MS, message: "others keep changing the webhook; retry later" };
/** Message for a webhook that doesn't exist. */
export const NO_WEBHOOK = "webhook not found";
const EXISTS = "attribute_exists(pk)";

const webhookFrom = decoderOf("webhook", webhookRecordSchema);
const secretsFrom = decoderOf("secrets of a webhook", secretsSchema);
const stateFrom = decoderOf("state of a webhook", endpointStateSchema.extend({ version: z.int() }));
const createdFrom = decoderOf("number of created webhooks", z.object({ created: z.int() }));

/** Key of the record that counts all webhooks that an organization has ever created. */
function createdKey(organization: string): RecordKey {
  return { pk: partitionKeyOf("WEBHOOK_LIMIT", organization), sk: "#CREATED" };
}

/** The record of a state. It is in the index while the sweep must check it. */
function stateRecord(webhook: WebhookKey, state: EndpointState, version: number): Attributes {
  const { organization, id } = webhook;
  const check = checkAt(state);
  const due = check !== undefined && {
    [dueIndex.partitionKey]: partitionKeyOf("DUE_WEBHOOKS", crc32(id) % DUE_PARTITIONS),
    [dueIndex.sortKey]: `${isoTime(check)}#${organization}#${id}${isUnreachable(state) ? UNREACHABLE : ""}`,
  };
  return { ...keyOf("WEBHOOK_STATE", webhook), ...state, version, ...due };
}

function partition({ dynamodb, environment }: WebhookRuntime, kind: PartitionKind, organization: string) {
  return readPartition(dynamodb, environment.WEBHOOKS_TABLE, partitionKeyOf(kind, organization));
}

/** Whether an organization has webhooks, eventually consistent. */
export async function hasWebhooks({ dynamodb, environment }: WebhookRuntime, organization: string): Promise<boolean> {
  const { Count = 0 } = await dynamodb.send(
    new QueryCommand({
      TableName: environment.WEBHOOKS_TABLE,
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": partitionKeyOf("WEBHOOK_STATE", organization) },
      Select: "COUNT",
      Limit: 1,
    }),
  );
  return Count > 0;
}

/** The settings of an organization's webhooks, oldest first. @param onDamaged called for each unreadable one */
export async function listWebhooks(
  runtime: WebhookRuntime,
  organization: string,
  onDamaged: OnDamaged,
): Promise<Webhook[]> {
  const records = await partition(runtime, "WEBHOOK", organization);
  return records
    .map((record) => unlessDamaged(() => webhookFrom(record), onDamaged))
    .filter((webhook) => webhook !== undefined)
    .toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1));
}

/** The settings of an organization's webhooks with their states, oldest first. */
export async function listWithStates(runtime: WebhookRuntime, organization: string, onDamaged: OnDamaged) {
  const [webhooks, records] = await Promise.all([
    listWebhooks(runtime, organization, onDamaged),
    partition(runtime, "WEBHOOK_STATE", organization),
  ]);
  const states = new Map(records.map((record) => [record["sk"], record]));
  return webhooks.flatMap((webhook) => {
    const record = states.get(webhook.id);
    const state = record && unlessDamaged(() => stateFrom(record), onDamaged);
    return state === undefined ? [] : [{ webhook, state }];
  });
}

/** An organization's webhooks at the time when it had created a certain number. */
export interface KnownWebhooks {
  readonly created: number;
  readonly ids: readonly string[];
}

/** Reads the ids of an organization's webhooks, for `createWebhook`. */
export async function readKnown(runtime: WebhookRuntime, organization: string): Promise<KnownWebhooks> {
  const { dynamodb, environment } = runtime;
  // Read first: a webhook that is created later is either among the ids or makes `createWebhook` fail.
  const record = await getItem(dynamodb, environment.WEBHOOKS_TABLE, createdKey(organization));
  const ids = (await partition(runtime, "WEBHOOK_STATE", organization)).map(({ sk }) => String(sk));
  return { created: record === undefined ? 0 : createdFrom(record).created, ids };
}

/** Keys of all records of an organization's webhooks. */
export async function webhookKeys(runtime: WebhookRuntime, organization: string): Promise<RecordKey[]> {
  const kinds = [...KINDS, "WEBHOOK_LIMIT"] as const;
  const records = await Promise.all(kinds.map((kind) => partition(runtime, kind, organization)));
  return records.flat().map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) }));
}

/**
 * Stores a new webhook if no other was created since the known ones were read. Deletions since then don't matter: they
 * only make the number smaller.
 * @returns false if the caller must read again and retry
 */
export async function createWebhook(
  { dynamodb, environment }: WebhookRuntime,
  webhook: Webhook,
  secrets: Secrets,
  state: EndpointState,
  { created }: KnownWebhooks,
): Promise<boolean> {
  const TableName = environment.WEBHOOKS_TABLE;
  const isNew = { TableName, ConditionExpression: "attribute_not_exists(pk)" };
  const isLast = {
    TableName,
    ConditionExpression: "#created = :created",
    ExpressionAttributeNames: { "#created": "created" },
    ExpressionAttributeValues: { ":created": created },
  };
  const TransactItems = [
    {
      Put: {
        ...(created === 0 ? isNew : isLast),
        Item: { ...createdKey(webhook.organization), created: created + 1 },
      },
    },
    { Put: { ...isNew, Item: { ...keyOf("WEBHOOK", webhook), ...webhook } } },
    { Put: { ...isNew, Item: { ...keyOf("WEBHOOK_SECRET", webhook), ...secrets } } },
    { Put: { ...isNew, Item: stateRecord(webhook, state, 1) } },
  ];
  return (await tryOnce(dynamodb, new TransactWriteCommand({ TransactItems }))) !== undefined;
}

/** The settings and the state of a webhook. @throws NotFoundError */
export async function readWebhook(runtime: WebhookRuntime, key: WebhookKey) {
  const { dynamodb, environment } = runtime;
  const get = (kind: (typeof KINDS)[number]) => getItem(dynamodb, environment.WEBHOOKS_TABLE, keyOf(kind, key));
  const [webhook, state] = await Promise.all([get("WEBHOOK"), get("WEBHOOK_STATE")]);
  if (webhook === undefined || state === undefined) throw new NotFoundError(NO_WEBHOOK);
  return { webhook: webhookFrom(webhook), state: stateFrom(state) };
}

/** The settings and the secrets of a webhook; undefined if there is none. */
export async function readForCall({ dynamodb, environment }: WebhookRuntime, key: WebhookKey) {
  const keys = [keyOf("WEBHOOK", key), keyOf("WEBHOOK_SECRET", key)];
  const records = await batchGet(dynamodb, environment.WEBHOOKS_TABLE, keys);
  const [webhook, secrets] = keys.map(({ pk }) => records.find((record) => record["pk"] === pk));
  return webhook && secrets && { webhook: webhookFrom(webhook), secrets: secretsFrom(secrets) };
}

/** Changes a webhook's settings. @param changes undefined values change nothing @throws NotFoundError */
export async function changeSettings(
  { dynamodb, environment }: WebhookRuntime,
  key: WebhookKey,
  changes: { readonly [N in keyof Webhook]?: Webhook[N] | undefined },
): Promise<Webhook> {
  const change = { key: keyOf("WEBHOOK", key), set: changes, condition: EXISTS };
  const record = await changeRecord(dynamodb, environment.WEBHOOKS_TABLE, change);
  if (record === undefined) throw new NotFoundError(NO_WEBHOOK);
  return webhookFrom(record);
}

/**
 * Replaces a webhook's secret.
 * @throws NotFoundError; StateConflictError if a secret that must still sign would be lost; StoreBusyError if others keep
 * changing the webhook
 */
export async function rotateSecret(
  { dynamodb, environment, clock }: WebhookRuntime,
  webhook: WebhookKey,
  next: string,
): Promise<void> {
  const TableName = environment.WEBHOOKS_TABLE;
  const key = keyOf("WEBHOOK_SECRET", webhook);
  await retry(CHANGING, async () => {
    const record = await getItem(dynamodb, TableName, key);
    if (record === undefined) throw new NotFoundError(NO_WEBHOOK);
    const secrets = secretsFrom(record);
    // This call has written it, but the response was lost.
    if (secrets.secret === next) return true;
    const now = clock();
    const possibleAt = rotatableAt(secrets, now);
    if (possibleAt !== undefined) {
      throw new StateConflictError(
        `too many secrets of this webhook are younger than 24 hours; rotate again after ${isoTime(possibleAt)}`,
      );
    }
    const change = {
      key,
      set: rotated(secrets, next, now),
      condition: "#secret = :before",
      given: { before: secrets.secret },
    };
    const changed = await changeRecord(dynamodb, TableName, change);
    return changed === undefined ? undefined : true;
  });
}

/** Deletes a webhook. @throws NotFoundError; StoreBusyError if others keep changing the webhook */
export async function deleteWebhook({ dynamodb, environment }: WebhookRuntime, key: WebhookKey): Promise<void> {
  const TransactItems = KINDS.map((kind) => ({
    Delete: { TableName: environment.WEBHOOKS_TABLE, Key: keyOf(kind, key), ConditionExpression: EXISTS },
  }));
  await retry(CHANGING, async () => {
    const outcome = await writeConditionally(dynamodb, new TransactWriteCommand({ TransactItems }));
    if (outcome.kind === "written") return true;
    if (outcome.current !== undefined) throw new NotFoundError(NO_WEBHOOK);
    if (outcome.kind !== "busy") throw outcome.error;
    return undefined;
  });
}

/** A state before and after a change: the same object if nothing changed. */
export interface StateChange {
  readonly before: EndpointState;
  readonly after: EndpointState;
}

/**
 * Changes the state of a webhook by compare-and-set.
 * @param change returns undefined or the same state to change nothing. It is called again if the response to its write is
 * lost, so it must recognize its own effect
 * @returns undefined if there is no such webhook
 * @throws StoreBusyError
 */
export async function changeState(
  { dynamodb, environment }: WebhookRuntime,
  webhook: WebhookKey,
  change: (state: EndpointState) => EndpointState | undefined,
): Promise<StateChange | undefined> {
  const TableName = environment.WEBHOOKS_TABLE;
  const outcome = await retry(CHANGING, async (): Promise<StateChange | "none" | undefined> => {
    const record = await getItem(dynamodb, TableName, keyOf("WEBHOOK_STATE", webhook));
    if (record === undefined) return "none";
    const { version, ...before } = stateFrom(record);
    const after = change(before) ?? before;
    if (after === before) return { before, after };
    const command = new PutCommand({
      TableName,
      Item: stateRecord(webhook, after, version + 1),
      ConditionExpression: "#version = :version",
      ExpressionAttributeNames: { "#version": "version" },
      ExpressionAttributeValues: { ":version": version },
    });
    return (await tryOnce(dynamodb, command)) && { before, after };
  });
  return outcome === "none" ? undefined : outcome;
}

/** The webhooks for which something is due, eventually consistent. */
export async function dueWebhooks({ dynamodb, environment }: WebhookRuntime) {
  const queries = Array.from({ length: DUE_PARTITIONS }, (_, number) => {
    const query = {
      TableName: environment.WEBHOOKS_TABLE,
      IndexName: "due",
      KeyConditionExpression: "#pk = :pk",
      ExpressionAttributeNames: { "#pk": dueIndex.partitionKey },
      ExpressionAttributeValues: { ":pk": partitionKeyOf("DUE_WEBHOOKS", number) },
    };
    return allItems(paginateQuery({ client: dynamodb }, query));
  });
  return (await Promise.all(queries)).flat().map(({ pk, sk, [dueIndex.sortKey]: due }) => ({
    key: { organization: String(pk).split("#")[1] ?? "", id: String(sk) },
    /** ISO time from which the sweep takes care of it. */
    checkAt: String(due).split("#", 1)[0] ?? "",
    isUnreachable: String(due).endsWith(UNREACHABLE),
  }));
}
