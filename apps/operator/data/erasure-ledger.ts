import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { RuntimeWith } from "@work-items/lib/aws/runtime.ts";
import { isoTime } from "@work-items/lib/clock.ts";
import { partitionKeyOf } from "@work-items/lib/resources.ts";
import { readPartition } from "@work-items/lib/store/all-items.ts";
import { getItem } from "@work-items/lib/store/batch-get.ts";
import { tryWrite } from "@work-items/lib/store/conditional-write.ts";
import { decoderOf } from "@work-items/lib/store/decode-record.ts";
import type { RecordKey } from "@work-items/lib/store/versioned-record.ts";

/** What was erased: one item by its id, one person by an HMAC of the address, or else all of an organization. */
const entrySchema = z.object({
  organization: z.string(),
  item: z.string().optional(),
  person: z.string().optional(),
  began_at: z.string(),
  /** Absent if it was interrupted. */
  finished_at: z.string().optional(),
});
type Entry = z.output<typeof entrySchema>;
const decodeEntry = decoderOf("erasure", entrySchema);

/** An erasure, and when nothing was left of its subject; undefined if it was interrupted and not run again. */
export type Erasure = Entry & { readonly ended_at: string | undefined };

export function isWhole({ item, person }: Entry): boolean {
  return item === undefined && person === undefined;
}

/** Whether an erasure that finished has also erased what an earlier one was to erase. */
function completes(later: Entry, { organization, item, person, began_at: began }: Entry): boolean {
  const isSame = later.item === item && later.person === person;
  return later.organization === organization && later.began_at >= began && (isSame || isWhole(later));
}

/** When an erasure ended. An interrupted one ended with the next one that finished. */
function endOf(entry: Entry, all: readonly Entry[]): string | undefined {
  if (entry.finished_at !== undefined) return entry.finished_at;
  const ends = all.filter((later) => completes(later, entry)).flatMap(({ finished_at: at }) => at ?? []);
  return ends.toSorted()[0];
}

/** An Audit table: the service's, or that of the region from which a restored table comes. */
export type Ledger = Pick<RuntimeWith<"audit">, "dynamodb" | "environment">;

const ALL = partitionKeyOf("ERASURES", "all");

const LEDGER_KEY: RecordKey = { pk: partitionKeyOf("LEDGER"), sk: "#LEDGER" };
const identitySchema = z.object({
  /** The table's name when the ledger was started. A restored copy has it too. */
  name: z.string(),
  secret: z.string(),
});
type Identity = Readonly<z.output<typeof identitySchema>>;
const decodeIdentity = decoderOf("ledger", identitySchema);

/** Gives a ledger its identity, if it has none. Every logged command does so, so that every backup says which ledger it is. */
export async function identifyLedger({ dynamodb, environment }: Ledger): Promise<void> {
  const { AUDIT_TABLE: name } = environment;
  const identity: Identity = { name, secret: randomBytes(32).toString("base64url") };
  await tryWrite(
    dynamodb,
    new PutCommand({
      TableName: name,
      Item: { ...LEDGER_KEY, ...identity },
      ConditionExpression: "attribute_not_exists(pk)",
    }),
  );
}

async function readIdentity({ dynamodb, environment }: Ledger): Promise<Identity | undefined> {
  const item = await getItem(dynamodb, environment.AUDIT_TABLE, LEDGER_KEY);
  return item && decodeIdentity(item);
}

/**
 * HMAC of a person's address, whatever its case, in an organization. The secret is the ledger's, so that erased persons are still
 * recognized when the organization is created again with other secrets.
 */
function personHmac({ secret }: Identity, organization: string, address: string): string {
  return createHmac("sha256", secret)
    .update(`erased person\n${organization}\n${address.toLowerCase()}`)
    .digest("base64url");
}

/** What an erasure is about: an item by its id, a person by the address, or else all of an organization. */
export interface Subject {
  readonly item?: string;
  readonly address?: string;
}

/**
 * Erases, and notes in the ledger what: before, so that it has interrupted erasures too, and again at the end. A repeated
 * erasure has another entry.
 * @param erase is given what notes the end, for an erasure that must do something after that
 */
export async function keptInLedger<T>(
  ledger: Ledger & Pick<RuntimeWith<"audit">, "clock">,
  organization: string,
  { item, address }: Subject,
  erase: (finish: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const { dynamodb, environment, clock } = ledger;
  const began = isoTime(clock());
  await identifyLedger(ledger);
  const identity = await readIdentity(ledger);
  const person = address === undefined ? undefined : personHmac(identity!, organization, address);
  const key: RecordKey = { pk: ALL, sk: `${began}#${randomUUID()}` };
  const put = async (finished?: string): Promise<void> => {
    const entry: Entry = { organization, item, person, began_at: began, finished_at: finished };
    await dynamodb.send(new PutCommand({ TableName: environment.AUDIT_TABLE, Item: { ...key, ...entry } }));
  };
  await put();
  let isFinished = false;
  const finish = async (): Promise<void> => {
    if (!isFinished) await put(isoTime(clock()));
    isFinished = true;
  };
  const result = await erase(finish);
  await finish();
  return result;
}

export async function readErasures({ dynamodb, environment }: Ledger): Promise<Erasure[]> {
  const entries = (await readPartition(dynamodb, environment.AUDIT_TABLE, ALL)).map((item) => decodeEntry(item));
  return entries.map((entry) => ({ ...entry, ended_at: endOf(entry, entries) }));
}

/** Whether the erasure of an item was interrupted, and must be run again. @param item its id */
export async function isItemPending(ledger: Ledger, organization: string, item: string): Promise<boolean> {
  const erasures = await readErasures(ledger);
  return erasures.some((each) => each.organization === organization && each.item === item && !each.ended_at);
}

/** What a ledger has of the erasures that may be missing from a table that was restored to a time. @param since ISO 8601 */
export async function erasuresSince(ledger: Ledger, since: string) {
  const identity = await readIdentity(ledger);
  return {
    erasures: (await readErasures(ledger)).filter(({ ended_at: at }) => at === undefined || at > since),
    /** How the entries name a person; only for a ledger that has entries. */
    hmacOf: (organization: string, address: string): string => personHmac(identity!, organization, address),
  };
}

/** The name by which tables know a ledger. */
export async function nameOfLedger(ledger: Ledger): Promise<string> {
  return (await readIdentity(ledger))?.name ?? ledger.environment.AUDIT_TABLE;
}
