import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { Attributes } from "@work-items/lib/aws/attribute-values.ts";
import type { RuntimeWith } from "@work-items/lib/aws/runtime.ts";
import { isoTime } from "@work-items/lib/clock.ts";
import { NotFoundError, StateConflictError } from "@work-items/lib/errors.ts";
import type { OrganizationRecord } from "@work-items/lib/organizations/organization.ts";
import { partitionKeyOf } from "@work-items/lib/resources.ts";
import { batchGet, getItem, keyText } from "@work-items/lib/store/batch-get.ts";
import { decoderOf, type OnDamaged } from "@work-items/lib/store/decode-record.ts";
import { readOrigin, type TableOrigin, type TableRuntime } from "@work-items/lib/store/table-origin.ts";
import { itemIdOf } from "@work-items/lib/work-items/work-item-record.ts";
import { MICROSECONDS } from "./administration.ts";
import { deleteRecords, type OwnedRecord, type RecordsPage, scanTable } from "./customer-records.ts";
import { readOrganization } from "./damaged-access.ts";
import { emptyPerson } from "./empty-person.ts";
import { type Erasure, erasuresSince, isWhole, type Ledger, nameOfLedger, readErasures } from "./erasure-ledger.ts";
import { kindOf, ownerOf, parentOf } from "./kinds-of-data.ts";
import type { ReadProgress } from "./metered-reads.ts";
import { PersonAddress } from "./person-address.ts";

const noteSchema = z.object({
  /** Name of the ledger that was applied. */
  ledger: z.string(),
  restored_to: z.string(),
  /** ISO 8601: all that the ledger had by then is applied. */
  applied_at: z.string(),
});
const decodeNote = decoderOf("note of a restored table", noteSchema);

/** Where a restored table says which ledger was applied to it: in itself, so that its copies say so too, and no other table. */
function placeOfNote({ environment }: TableRuntime) {
  return { TableName: environment.WORK_ITEMS_TABLE, Key: { pk: partitionKeyOf("ORIGIN", "table"), sk: "#APPLIED" } };
}

/** Until when a ledger was applied to a table, ISO 8601. */
async function appliedUntil(runtime: TableRuntime, ledger: Ledger): Promise<string> {
  const { TableName, Key } = placeOfNote(runtime);
  const [item, name] = await Promise.all([getItem(runtime.dynamodb, TableName, Key), nameOfLedger(ledger)]);
  const note = item && decodeNote(item);
  return note?.ledger === name ? note.applied_at : "";
}

/**
 * Checks that a ledger, or a copy of it, belongs to the region from which a restored table comes.
 * @param isNamed whether the operator named the ledger; needed for a table that doesn't say where it comes from
 * @returns the table's origin, if it says so @throws StateConflictError that names the right ledger
 */
export async function assertLedgerOf(
  runtime: TableRuntime,
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
  // The table that is in use has its own ledger. Only a copy of a ledger has to say which one it is.
  if (origin.ledger === ledger.environment.AUDIT_TABLE || (await nameOfLedger(ledger)) === origin.ledger) return origin;
  throw new StateConflictError(
    `${table} comes from ${origin.region}, and what was erased there isn't in the ledger ` +
      `${ledger.environment.AUDIT_TABLE}: name ` +
      `--ledger ${origin.ledger} --ledger-region ${origin.region}, or a restored copy of that table`,
  );
}

/** The time of the newest erasure that may be missing from a restored table; undefined if none is. @param ledger of its origin */
export async function missingErasure(runtime: TableRuntime, ledger: Ledger): Promise<string | undefined> {
  const [until, origin] = await Promise.all([appliedUntil(runtime, ledger), readOrigin(runtime)]);
  // If it was in use since then, what an interrupted erasure is about may have come again.
  const wasUsed = origin !== undefined && origin.at > until;
  const times = (await readErasures(ledger)).flatMap(({ ended_at: ended, began_at: began }) => {
    const at = ended ?? began;
    return at > until || (ended === undefined && wasUsed) ? [at] : [];
  });
  return times.toSorted().at(-1);
}

/** The erasures of one organization that are missing from a restored table. */
interface Missing {
  /** Undefined if the organization doesn't exist. */
  readonly record: Partial<OrganizationRecord> | undefined;
  readonly all: readonly Erasure[];
  readonly persons: PersonAddress;
}

function isFrom(record: Attributes | undefined, time: string): boolean {
  const created = record?.["created_at"];
  return typeof created === "string" && created < time;
}

/** Whether an erasure is about a record, if the record was there before it began. */
function concerns(erasure: Erasure, record: OwnedRecord): boolean {
  return isWhole(erasure) || (kindOf(record) === "ITEM" && itemIdOf(record) === erasure.item);
}

/**
 * Makes the function that says whether an erasure is about a record of a page: the record was there before, by its own time or by
 * that of what it belongs to. What was sent again since then stays, and so does what has neither time.
 */
async function createIsErased(
  { dynamodb, environment }: TableRuntime,
  records: readonly OwnedRecord[],
  all: readonly Erasure[],
) {
  const isOlder = (record: OwnedRecord): boolean =>
    all.some((erasure) => concerns(erasure, record) && isFrom(record, erasure.began_at));
  const doubtful = records.filter((record) => all.some((erasure) => concerns(erasure, record)) && !isOlder(record));
  const keys = doubtful.flatMap((record) => parentOf(record) ?? []);
  const found = await batchGet(dynamodb, environment.WORK_ITEMS_TABLE, keys, ["pk", "sk", "created_at"]);
  const parents = new Map(found.map((parent) => [keyText(parent as OwnedRecord), parent]));
  return (record: OwnedRecord): boolean => {
    if (isOlder(record)) return true;
    const key = parentOf(record);
    if (key === undefined) return false;
    const parent = parents.get(keyText(key));
    // What belongs to something that is gone goes with it.
    return all.some(
      (erasure) => concerns(erasure, record) && (parent === undefined || isFrom(parent, erasure.began_at)),
    );
  };
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
 * after the time to which the table was restored, and notes that in the table. Reads the whole table once. It can be repeated.
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
  const { clock, dynamodb, environment } = runtime;
  const appliedAt = isoTime(clock());
  const { erasures, hmacOf } = await erasuresSince(ledger, restoredTo);
  const missing = new Map<string, Missing>();
  for (const [organization, all] of Map.groupBy(erasures, (each) => each.organization)) {
    const record = await readOrganization(runtime, organization, options.onDamaged).catch((error: unknown) => {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    });
    const hmacs = new Set(all.flatMap(({ person }) => person ?? []));
    const persons = new PersonAddress((address) => hmacs.size > 0 && hmacs.has(hmacOf(organization, address)));
    missing.set(organization, { record, all, persons });
  }
  const isBack = ({ record, all }: Missing): boolean => {
    const { changes_from: from = 0, erasing_since: since } = record ?? { erasing_since: "gone" };
    const began = all.findLast(isWhole)?.began_at ?? isoTime(0);
    return since === undefined && from / MICROSECONDS < Date.parse(began);
  };

  let deleted = 0;
  let emptied = 0;
  const visit = async ({ records }: RecordsPage): Promise<void> => {
    for (const [organization, owned] of Map.groupBy(records, (record) => ownerOf(record) ?? "")) {
      const found = missing.get(organization);
      if (found === undefined) continue;
      const { all, persons } = found;
      const isErased = await createIsErased(runtime, owned, all);
      const isPlanOf = (record: OwnedRecord): boolean => kindOf(record) === "DRY_RUN" && persons.isHeldBy(record);
      const gone = owned.filter((record) => isPlanOf(record) || isErased(record));
      await deleteRecords(runtime, environment.WORK_ITEMS_TABLE, gone);
      deleted += gone.length;
      const named = owned.filter((record) => !gone.includes(record) && persons.isPersonOf(record));
      const { items, events } = await emptyPerson(runtime, persons, named, false, options.onDamaged);
      emptied += items + events;
    }
  };
  const none = { scanned: 0, readUnits: 0 };
  const progress = missing.size === 0 ? none : await scanTable(runtime, visit, options.onProgress);
  const { TableName, Key } = placeOfNote(runtime);
  const note = { ledger: await nameOfLedger(ledger), restored_to: restoredTo, applied_at: appliedAt };
  await dynamodb.send(new PutCommand({ TableName, Item: { ...Key, ...note } }));
  const present = [...missing].filter(([, each]) => isBack(each)).map(([id]) => id);
  return { ...progress, deleted, emptied, present };
}
