import { isoTime } from "../../../lib/clock.ts";
import { StateConflictError } from "../../../lib/errors.ts";
import { assertKept, assertSame, getOrganization } from "./administration.ts";
import { type OnDamaged, stopAtDamaged, unlessDamaged } from "../../../lib/store/decode-record.ts";
import { type OrganizationRecord, toOrganization } from "../../../lib/organizations/organization.ts";
import type { RuntimeWith } from "../../../lib/aws/runtime.ts";
import { EVENT_SORT_KEY_PREFIX, ITEM_SORT_KEY, itemKeyOf } from "../../../lib/work-items/work-item-record.ts";
import {
  conversationUploadLine,
  type CustomerCounts,
  type CustomerLine,
  eventLine,
  firstLine,
  workItemLine,
} from "./customer-lines.ts";
import type { OwnedRecord } from "./customer-records.ts";
import { EXPORTED_LISTS, exportedAs } from "./kinds-of-data.ts";
import type { ReadProgress } from "./metered-reads.ts";
import { type WalkPlace, walkOrganization } from "./walk-organization.ts";

type Counts = { -readonly [K in keyof CustomerCounts]: CustomerCounts[K] };

/** An item's place among the shards is certain while this number stays. */
function writeShardsOf(record: OrganizationRecord): number {
  return toOrganization(record).listingWriteShards;
}

/** How far an export has come. */
export interface ExportPlace {
  /** ISO 8601: when it began. */
  readonly exported_at: string;
  readonly counts: CustomerCounts;
  /** Shards that the lists were written in when it began. */
  readonly shards: number;
  readonly walk: WalkPlace;
  /** Partitions of items that couldn't be read. */
  readonly left_out: readonly string[];
}
/** Options of an export. */
export interface ExportOptions {
  readonly onProgress?: (progress: ReadProgress) => void;
  /** Called with each record that can't be read. The export leaves it out, and an item's events with it. @default throws */
  readonly onDamaged?: OnDamaged;
  /** Where an interrupted export continues, with the external_ids of the items that it has written. @default it begins */
  readonly from?: { readonly place: ExportPlace; readonly items: Iterable<string> } | undefined;
  /** Called after chunks with the place after them. The export waits for it. */
  readonly onWritten?: (place: ExportPlace) => Promise<void>;
}

/**
 * Exports work items, deleted ones too, their events and the conversation uploads of an organization, as far as the listing
 * index shows them. Each item comes before its events. Each record that exists throughout is exported once, as it was before
 * or after any change meanwhile; what is created or erased meanwhile may be in it. The last line is only written if all of
 * this holds, but for records that can't be read: it says how many were left out.
 * @param write gets a chunk of lines, each with its line feed; the export waits for it
 * @returns how many there were, as the last line says, and the read request units that it has consumed
 * @throws NotFoundError, StoreBusyError, StateConflictError if the organization is being erased, was made again, or its lists
 * got more shards
 */
export async function exportOrganization(
  runtime: RuntimeWith<"workItems" | "access">,
  organization: string,
  write: (lines: string) => Promise<void>,
  { onProgress, onDamaged = stopAtDamaged, from, onWritten = async () => undefined }: ExportOptions = {},
) {
  const before = await getOrganization(runtime, organization);
  assertKept(before);
  const { place: start, items = [] } = from ?? {};
  const exportedAt = start?.exported_at ?? isoTime(runtime.clock());
  const shards = start?.shards ?? writeShardsOf(before);
  const counts: Counts = { work_items: 0, events: 0, conversation_uploads: 0, ...start?.counts };
  const leftOut = [...(start?.left_out ?? [])];
  /** The item whose events come next: a partition may be continued on the next page. */
  let item: { readonly pk: string; readonly external_id: string } | undefined;

  const textOf = (line: CustomerLine): string => `${JSON.stringify(line)}\n`;
  /** The line of a record, which is counted; none for one that can't be read. */
  const lineOf = (kind: Exclude<keyof Counts, "left_out">, read: () => CustomerLine): CustomerLine[] => {
    const line = unlessDamaged(read, (damaged) => {
      counts.left_out = (counts.left_out ?? 0) + 1;
      onDamaged(damaged);
    });
    if (line === undefined) return [];
    counts[kind] += 1;
    return [line];
  };
  const linesOf = (record: OwnedRecord): CustomerLine[] => {
    const kind = exportedAs(record);
    if (kind === null) return [];
    if (kind === "conversation upload") return lineOf("conversation_uploads", () => conversationUploadLine(record));
    if (record.sk === ITEM_SORT_KEY) {
      const own = lineOf("work_items", () => workItemLine(record));
      item = own.length === 0 ? undefined : { pk: record.pk, external_id: String(record["external_id"]) };
      if (item === undefined) leftOut.push(record.pk);
      return own;
    }
    // Without its item an event cannot be seen by anybody.
    if (item?.pk !== record.pk || !record.sk.startsWith(EVENT_SORT_KEY_PREFIX)) return [];
    const { external_id: externalId } = item;
    return lineOf("events", () => eventLine(externalId, record));
  };
  function* visitedBefore() {
    yield* leftOut;
    for (const externalId of items) yield itemKeyOf(organization, externalId).pk;
  }

  if (start === undefined) await write(textOf(firstLine(organization, exportedAt)));
  const { readUnits } = await walkOrganization(
    runtime,
    toOrganization(before),
    async ({ records, place }) => {
      const lines = records.flatMap(linesOf).map(textOf).join("");
      if (lines !== "") await write(lines);
      if (place === undefined) return;
      await onWritten({ exported_at: exportedAt, counts: { ...counts }, shards, walk: place, left_out: [...leftOut] });
    },
    { onProgress, lists: EXPORTED_LISTS, from: start?.walk, visited: visitedBefore() },
  );
  // Without its last line an export is not complete: an erasure may have deleted what was not read yet.
  const after = await getOrganization(runtime, organization);
  assertSame(before, after);
  if (writeShardsOf(after) !== shards) {
    throw new StateConflictError(
      `the lists of ${organization} have more shards than when the export began; begin again`,
    );
  }
  await write(textOf({ end: counts }));
  return { counts, readUnits };
}
