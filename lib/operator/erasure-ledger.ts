import { createHmac, randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { Attributes } from "../aws/attribute-values.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { isoTime } from "../clock.ts";
import { NotFoundError } from "../errors.ts";
import { type OrganizationRecord, toOrganization } from "../organizations/organization.ts";
import { partitionKeyOf } from "../resources.ts";
import { readPartition } from "../store/all-items.ts";
import { getItem } from "../store/batch-get.ts";
import { decoderOf, type OnDamaged } from "../store/decode-record.ts";
import type { RecordKey } from "../store/versioned-record.ts";
import { itemIdOf } from "../work-items/work-item-record.ts";
import { getOrganization } from "./administration.ts";
import { deleteRecords, type OwnedRecord, type RecordsPage, scanTable } from "./customer-records.ts";
import { emptyPerson } from "./empty-person.ts";
import { kindOf, ownerOf } from "./kinds-of-data.ts";
import type { ReadProgress } from "./metered-reads.ts";
import { PersonAddress } from "./person-address.ts";

/** What an erasure was about: one item by its id, one person by an HMAC of the address, or all of an organization. */
const entrySchema = z.object({
  organization: z.string(),
  item: z.string().optional(),
  person: z.string().optional(),
  began_at: z.string(),
  /** Absent if it was interrupted. */
  finished_at: z.string().optional(),
});
/** An erasure in the ledger. */
type Erasure = z.output<typeof entrySchema>;
const decodeErasure = decoderOf("erasure", entrySchema);

/** What the ledger requires of a runtime. */
export type LedgerRuntime = RuntimeWith<"audit" | "access" | "workItems">;

const MICROSECONDS = 1000;
const ALL = partitionKeyOf("ERASURES", "all");

/**
 * HMAC of a person's address, whatever its case, by a secret of the organization. It is in another table, and goes with the
 * organization: then no one can learn from the ledger who was erased.
 */
function personHmac({ cursor_secret: secret }: OrganizationRecord, address: string): string {
  return createHmac("sha256", secret).update(`erased person\n${address.toLowerCase()}`).digest("base64url");
}

/**
 * Erases, and keeps in the ledger what is erased: before, so that an interrupted erasure is in it too, and again when it is
 * finished. A repeated one has another entry.
 */
export async function keptInLedger<T>(
  runtime: LedgerRuntime,
  organization: string,
  subject: { readonly item?: string; readonly address?: string },
  erase: () => Promise<T>,
): Promise<T> {
  const { dynamodb, environment, clock } = runtime;
  const { item, address } = subject;
  const began = isoTime(clock());
  const person = address === undefined ? undefined : personHmac(await getOrganization(runtime, organization), address);
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

async function readLedger({ dynamodb, environment }: LedgerRuntime): Promise<Erasure[]> {
  return (await readPartition(dynamodb, environment.AUDIT_TABLE, ALL)).map((item) => decodeErasure(item));
}

function restoredKey(table: string): RecordKey {
  return { pk: partitionKeyOf("RESTORED", table), sk: "#RESTORED" };
}

/** The time of the newest erasure that a restored table may lack; undefined if it lacks none. */
export async function lackedErasure(runtime: LedgerRuntime, table: string): Promise<string | undefined> {
  const { dynamodb, environment } = runtime;
  const restored = await getItem(dynamodb, environment.AUDIT_TABLE, restoredKey(table));
  const appliedAt = restored?.["applied_at"];
  const last = (await readLedger(runtime)).map((entry) => entry.finished_at ?? entry.began_at).toSorted();
  return last.findLast((at) => typeof appliedAt !== "string" || at > appliedAt);
}

/** The erasures of one organization that a restored table lacks. */
interface Lacked {
  readonly record: OrganizationRecord | undefined;
  readonly all: readonly Erasure[];
}

/** Whether a record was there before the erasure began; what was sent again since then stays. */
function isBefore(record: Attributes, { began_at: began }: Erasure): boolean {
  const created = record["created_at"];
  return typeof created !== "string" || created < began;
}

function isErased(record: OwnedRecord, { all }: Lacked): boolean {
  return all.some((erasure) => {
    const { item, person } = erasure;
    if (person !== undefined || !isBefore(record, erasure)) return false;
    return item === undefined || (kindOf(record) === "ITEM" && itemIdOf(record) === item);
  });
}

/** The erased addresses in a record of an item or event, and in what an undo would put back. */
function erasedAddressesIn(record: OwnedRecord, { record: organization, all }: Lacked): string[] {
  const hmacs = new Set(all.flatMap(({ person }) => person ?? []));
  if (organization === undefined || hmacs.size === 0 || kindOf(record) !== "ITEM") return [];
  const texts = [record["agent_email"], record["actor_email"], record["undo"]].filter(
    (text) => typeof text === "string",
  );
  // Layers are JSON: their texts are between quotes.
  const parts = texts.flatMap((text) => text.toLowerCase().split('"'));
  const addresses = new Set(parts.filter((part) => part.includes("@")));
  return [...addresses].filter((address) => hmacs.has(personHmac(organization, address)));
}

/** What applying the ledger has done. */
export interface Reapplied extends ReadProgress {
  readonly deleted: number;
  /** Items and events whose agent or actor was emptied. */
  readonly emptied: number;
  /** Organizations that are erased and have no secret any more, of which persons can't be found. */
  readonly unknown: readonly string[];
  /** Organizations that were erased and are in the Access table as before: it was restored too. */
  readonly present: readonly string[];
}

/**
 * Applies the ledger to a restored WorkItems table that nothing else writes to: deletes and empties again what had been
 * erased after the time that the table was restored to. It reads the whole table once. It may be repeated.
 * @param restoredTo ISO 8601
 * @throws StoreBusyError
 */
export async function reapplyErasures(
  runtime: LedgerRuntime,
  restoredTo: string,
  options: { readonly onProgress?: (progress: ReadProgress) => void; readonly onDamaged: OnDamaged },
): Promise<Reapplied> {
  const { dynamodb, environment, clock } = runtime;
  const table = environment.WORK_ITEMS_TABLE;
  const appliedAt = isoTime(clock());
  const entries = (await readLedger(runtime)).filter(({ finished_at: at }) => at === undefined || at >= restoredTo);
  const lacked = new Map<string, Lacked>();
  for (const [organization, all] of Map.groupBy(entries, (entry) => entry.organization)) {
    const record = await getOrganization(runtime, organization).catch((error: unknown) => {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    });
    lacked.set(organization, { record, all });
  }
  const wholeOf = ({ all }: Lacked): Erasure | undefined =>
    all.findLast(({ item, person }) => item === undefined && person === undefined);
  const isBack = (each: Lacked): boolean => {
    const { changes_from: from = 0, erasing_since: since } = each.record ?? { erasing_since: "gone" };
    return since === undefined && from / MICROSECONDS < Date.parse(wholeOf(each)?.began_at ?? isoTime(0));
  };
  const idsOf = (which: (each: Lacked) => boolean): string[] =>
    [...lacked].filter(([, each]) => which(each)).map(([id]) => id);

  let [deleted, emptied] = [0, 0];
  const visit = async ({ records }: RecordsPage): Promise<void> => {
    for (const [organization, owned] of Map.groupBy(records, (record) => ownerOf(record) ?? "")) {
      const erasures = lacked.get(organization);
      if (erasures === undefined) continue;
      const gone = owned.filter((record) => isErased(record, erasures));
      await deleteRecords(runtime, table, gone);
      deleted += gone.length;
      const left = owned.filter((record) => !gone.includes(record));
      const named = left.flatMap((record) =>
        erasedAddressesIn(record, erasures).map((address) => ({ address, record })),
      );
      for (const [address, found] of Map.groupBy(named, (each) => each.address)) {
        const person = new PersonAddress(address);
        const keys = found.map(({ record }) => record);
        const owner = toOrganization(erasures.record!);
        const { items, events } = await emptyPerson(runtime, owner, person, keys, false, options.onDamaged);
        emptied += items + events;
      }
    }
  };
  const none = { scanned: 0, readUnits: 0 };
  const progress = lacked.size === 0 ? none : await scanTable(runtime, visit, options.onProgress);
  const Item = { ...restoredKey(table), restored_to: restoredTo, applied_at: appliedAt };
  await dynamodb.send(new PutCommand({ TableName: environment.AUDIT_TABLE, Item }));
  return {
    ...progress,
    deleted,
    emptied,
    unknown: idsOf((each) => each.record === undefined && wholeOf(each) === undefined),
    present: idsOf(isBack),
  };
}
