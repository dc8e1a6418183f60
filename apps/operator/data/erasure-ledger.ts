import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { Attributes } from "@work-items/lib/aws/attribute-values.ts";
import type { RuntimeWith } from "@work-items/lib/aws/runtime.ts";
import { isoTime } from "@work-items/lib/clock.ts";
import { NotFoundError, StateConflictError } from "@work-items/lib/errors.ts";
import type { OrganizationRecord } from "@work-items/lib/organizations/organization.ts";
import { partitionKeyOf } from "@work-items/lib/resources.ts";
import { readPartition } from "@work-items/lib/store/all-items.ts";
import { getItem } from "@work-items/lib/store/batch-get.ts";
import { tryWrite } from "@work-items/lib/store/conditional-write.ts";
import { decoderOf, type OnDamaged } from "@work-items/lib/store/decode-record.ts";
import { readOrigin, type TableOrigin } from "@work-items/lib/store/table-origin.ts";
import type { RecordKey } from "@work-items/lib/store/versioned-record.ts";
import { itemIdOf } from "@work-items/lib/work-items/work-item-record.ts";
import { MICROSECONDS } from "./administration.ts";
import { readOrganization } from "./damaged-access.ts";
import { deleteRecords, type OwnedRecord, type RecordsPage, scanTable } from "./customer-records.ts";
import { emptyPerson } from "./empty-person.ts";
import { kindOf, ownerOf } from "./kinds-of-data.ts";
import type { ReadProgress } from "./metered-reads.ts";
import { PersonAddress } from "./person-address.ts";

/** What was erased: one item by its id, one person by an HMAC of the address, or else all of an organization. */
const entrySchema = z.object({
  organization: z.string(),
  item: z.string().optional(),
  person: z.string().optional(),
  began_at: z.string(),
  /** Absent if it was interrupted. */
  finished_at: z.string().optional(),
});
type Erasure = z.output<typeof entrySchema>;
const decodeErasure = decoderOf("erasure", entrySchema);

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

/**
 * Erases, and notes in the ledger what: before, so that it has interrupted erasures too, and again at the end. A repeated
 * erasure has another entry.
 */
export async function keptInLedger<T>(
  ledger: Ledger & Pick<RuntimeWith<"audit">, "clock">,
  organization: string,
  subject: { readonly item?: string; readonly address?: string },
  erase: () => Promise<T>,
): Promise<T> {
  const { dynamodb, environment, clock } = ledger;
  const { item, address } = subject;
  const began = isoTime(clock());
  await identifyLedger(ledger);
  const identity = await readIdentity(ledger);
  const person = address === undefined ? undefined : personHmac(identity!, organization, address);
  const key: RecordKey = { pk: ALL, sk: `${began}#${randomUUID()}` };
  const put = (finished?: string): Promise<unknown> => {
    const entry: Erasure = { organization, item, person, began_at: began, finished_at: finished };
    return dynamodb.send(new PutCommand({ TableName: environment.AUDIT_TABLE, Item: { ...key, ...entry } }));
  };
  await put();
  const result = await erase();
  await put(isoTime(clock()));
  return result;
}

async function readLedger({ dynamodb, environment }: Ledger): Promise<Erasure[]> {
  return (await readPartition(dynamodb, environment.AUDIT_TABLE, ALL)).map((item) => decodeErasure(item));
}

function restoredKey(table: string): RecordKey {
  return { pk: partitionKeyOf("RESTORED", table), sk: "#RESTORED" };
}

/**
 * Checks that a ledger, or a copy of it, belongs to the region from which a restored table comes.
 * @param isNamed whether the operator named the ledger; needed for a table that doesn't say where it comes from
 * @returns the table's origin, if it says so @throws StateConflictError that names the right ledger
 */
export async function assertLedgerOf(
  runtime: Pick<RuntimeWith<"workItems">, "dynamodb" | "environment">,
  ledger: Ledger,
  isNamed: boolean,
): Promise<TableOrigin | undefined> {
  const { WORK_ITEMS_TABLE: table } = runtime.environment;
  const origin = await readOrigin(runtime);
  if (origin === undefined) {
    if (isNamed) return undefined;
    throw new StateConflictError(
      `${table} doesn't say where it comes from: name the table Audit of that region, or a restored copy of it, ` +
        "by --ledger <table>, and its region by --ledger-region",
    );
  }
  const { AUDIT_TABLE: given } = ledger.environment;
  const { name = given } = { ...(await readIdentity(ledger)) };
  if (name === origin.ledger) return origin;
  throw new StateConflictError(
    `${table} comes from ${origin.region}, and what was erased there isn't in the ledger ${given}: name ` +
      `--ledger ${origin.ledger} --ledger-region ${origin.region}, or a restored copy of that table`,
  );
}

/** The time of the newest erasure that may be missing from a restored table; undefined if none is. @param ledger of its origin */
export async function missingErasure(ledger: Ledger, table: string): Promise<string | undefined> {
  const { dynamodb, environment } = ledger;
  const restored = await getItem(dynamodb, environment.AUDIT_TABLE, restoredKey(table));
  const appliedAt = restored?.["applied_at"];
  const last = (await readLedger(ledger)).map((entry) => entry.finished_at ?? entry.began_at).toSorted();
  return last.findLast((at) => typeof appliedAt !== "string" || at > appliedAt);
}

/** The erasures of one organization that are missing from a restored table. */
interface Missing {
  /** Undefined if the organization doesn't exist. */
  readonly record: Partial<OrganizationRecord> | undefined;
  readonly all: readonly Erasure[];
  readonly persons: PersonAddress;
}

/** Whether a record was there before the erasure began. What was sent again since then stays. */
function isBefore(record: Attributes, { began_at: began }: Erasure): boolean {
  const created = record["created_at"];
  return typeof created !== "string" || created < began;
}

function isErased(record: OwnedRecord, { all, persons }: Missing): boolean {
  if (kindOf(record) === "DRY_RUN" && persons.isHeldBy(record)) return true;
  return all.some((erasure) => {
    const { item, person } = erasure;
    if (person !== undefined || !isBefore(record, erasure)) return false;
    return item === undefined || (kindOf(record) === "ITEM" && itemIdOf(record) === item);
  });
}

/** What applying the ledger did. */
export interface Reapplied extends ReadProgress {
  readonly deleted: number;
  /** Items and events whose agent or actor was emptied. */
  readonly emptied: number;
  /** Organizations that were erased and are back, because the Access table was restored too. */
  readonly present: readonly string[];
}

/**
 * Applies a ledger to a restored WorkItems table that nothing else writes to: deletes and empties again what was erased
 * after the time to which the table was restored. Reads the whole table once. It can be repeated.
 * @param ledger of the table's origin, as `assertLedgerOf` checks
 * @param restoredTo ISO 8601
 * @throws StoreBusyError
 */
export async function reapplyErasures(
  runtime: RuntimeWith<"access" | "workItems">,
  ledger: Ledger,
  restoredTo: string,
  options: { readonly onProgress?: (progress: ReadProgress) => void; readonly onDamaged: OnDamaged },
): Promise<Reapplied> {
  const { environment, clock } = runtime;
  const table = environment.WORK_ITEMS_TABLE;
  const appliedAt = isoTime(clock());
  const identity = await readIdentity(ledger);
  const entries = (await readLedger(ledger)).filter(({ finished_at: at }) => at === undefined || at >= restoredTo);
  const missing = new Map<string, Missing>();
  for (const [organization, all] of Map.groupBy(entries, (entry) => entry.organization)) {
    const record = await readOrganization(runtime, organization, options.onDamaged).catch((error: unknown) => {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    });
    const hmacs = new Set(all.flatMap(({ person }) => person ?? []));
    const persons = new PersonAddress(
      (address) => hmacs.size > 0 && hmacs.has(personHmac(identity!, organization, address)),
    );
    missing.set(organization, { record, all, persons });
  }
  const wholeOf = ({ all }: Missing): Erasure | undefined =>
    all.findLast(({ item, person }) => item === undefined && person === undefined);
  const isBack = (each: Missing): boolean => {
    const { changes_from: from = 0, erasing_since: since } = each.record ?? { erasing_since: "gone" };
    return since === undefined && from / MICROSECONDS < Date.parse(wholeOf(each)?.began_at ?? isoTime(0));
  };

  let deleted = 0;
  let emptied = 0;
  const visit = async ({ records }: RecordsPage): Promise<void> => {
    for (const [organization, owned] of Map.groupBy(records, (record) => ownerOf(record) ?? "")) {
      const erasures = missing.get(organization);
      if (erasures === undefined) continue;
      const gone = owned.filter((record) => isErased(record, erasures));
      await deleteRecords(runtime, table, gone);
      deleted += gone.length;
      const { persons } = erasures;
      const named = owned.filter((record) => !gone.includes(record) && persons.isPersonOf(record));
      const { items, events } = await emptyPerson(runtime, persons, named, false, options.onDamaged);
      emptied += items + events;
    }
  };
  const none = { scanned: 0, readUnits: 0 };
  const progress = missing.size === 0 ? none : await scanTable(runtime, visit, options.onProgress);
  const Item = { ...restoredKey(table), restored_to: restoredTo, applied_at: appliedAt };
  await ledger.dynamodb.send(new PutCommand({ TableName: ledger.environment.AUDIT_TABLE, Item }));
  const present = [...missing].filter(([, each]) => isBack(each)).map(([id]) => id);
  return { ...progress, deleted, emptied, present };
}
