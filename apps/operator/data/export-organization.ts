import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { isoTime } from "@work-items/lib/clock.ts";
import { StateConflictError } from "@work-items/lib/errors.ts";
import { assertKept, assertSame, getOrganization } from "./administration.ts";
import { type OnDamaged, stopAtDamaged, unlessDamaged } from "@work-items/lib/store/decode-record.ts";
import { type OrganizationRecord, toOrganization } from "@work-items/lib/organizations/organization.ts";
import { contentHash } from "@work-items/lib/content-hash.ts";
import { readOrigin } from "@work-items/lib/store/table-origin.ts";
import type { RuntimeWith } from "@work-items/lib/aws/runtime.ts";
import { EVENT_SORT_KEY_PREFIX, ITEM_SORT_KEY, itemKeyOf } from "@work-items/lib/work-items/work-item-record.ts";
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
import { type TraversalPosition, traverseOrganization } from "./traverse-organization.ts";

/** While this number stays the same, an item stays in its shard. */
function writeShardsOf(record: OrganizationRecord): number {
  return toOrganization(record).listingWriteShards;
}

/** What is exported: an organization, and not an earlier one with its id; a table, and not another with its name. */
export type ExportSource = Readonly<Record<"organization" | "made" | "table" | "region" | "ledger", string>>;

/** @throws NotFoundError */
export async function exportSource(
  runtime: RuntimeWith<"workItems" | "access">,
  organization: string,
): Promise<ExportSource> {
  const { dynamodb, environment } = runtime;
  const { cursor_secret: secret } = await getOrganization(runtime, organization);
  const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: environment.WORK_ITEMS_TABLE }));
  const { region = "", ledger = "" } = { ...(await readOrigin(runtime)) };
  return { organization, made: contentHash(secret), table: String(Table?.TableId), region, ledger };
}

/** How far an export has come. */
export interface ExportPosition {
  /** ISO 8601: when it began. */
  readonly exported_at: string;
  readonly counts: CustomerCounts;
  /** Into how many shards the lists were written when it began. */
  readonly shards: number;
  readonly traversal: TraversalPosition;
  /** Partitions of items that couldn't be read. */
  readonly left_out: readonly string[];
}
export interface ExportOptions {
  readonly onProgress?: (progress: ReadProgress) => void;
  /** Called with each record that can't be read. The export leaves it out; with an item, its events too. @default throws */
  readonly onDamaged?: OnDamaged;
  /** Where an interrupted export continues, and the external_ids of the items that it has written. @default the beginning */
  readonly from?: { readonly position: ExportPosition; readonly items: Iterable<string> } | undefined;
  /** Called when all before a position is written. The export waits for it. */
  readonly onWritten?: (position: ExportPosition) => Promise<void>;
}

/**
 * Exports an organization's work items, deleted ones too, with their events, and its conversation uploads, as far as the listing
 * index shows them. Each item comes before its events. A record that exists throughout is exported once, as it was before
 * or after any change in the meantime. What is created or erased in the meantime may be included. The last line is written only if
 * all of this holds. It also says how many records couldn't be read and were left out.
 * @param write gets a chunk of lines, each with its line feed; the export waits for it
 * @returns the counts of the last line, and the read request units that were consumed
 * @throws NotFoundError, StoreBusyError, StateConflictError if the organization is being erased, was created again, or its lists
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
  const { position: start, items = [] } = from ?? {};
  const exportedAt = start?.exported_at ?? isoTime(runtime.clock());
  const shards = start?.shards ?? writeShardsOf(before);
  const counts: CustomerCounts = { work_items: 0, events: 0, conversation_uploads: 0, ...start?.counts };
  const leftOut = [...(start?.left_out ?? [])];
  /** The item whose events come next. They may continue on the next page. */
  let item: { readonly pk: string; readonly external_id: string } | undefined;

  const textOf = (line: CustomerLine): string => `${JSON.stringify(line)}\n`;
  /** Counts a record. @returns its line; none if it can't be read */
  const lineOf = (kind: Exclude<keyof CustomerCounts, "left_out">, read: () => CustomerLine): CustomerLine[] => {
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
    // Callers can't see an event without its item.
    if (item?.pk !== record.pk || !record.sk.startsWith(EVENT_SORT_KEY_PREFIX)) return [];
    const { external_id: externalId } = item;
    return lineOf("events", () => eventLine(externalId, record));
  };
  function* visitedBefore() {
    yield* leftOut;
    for (const externalId of items) yield itemKeyOf(organization, externalId).pk;
  }

  if (start === undefined) await write(textOf(firstLine(organization, exportedAt)));
  const { readUnits } = await traverseOrganization(
    runtime,
    toOrganization(before),
    async ({ records, position }) => {
      const lines = records.flatMap(linesOf).map(textOf).join("");
      if (lines !== "") await write(lines);
      if (position === undefined) return;
      const copies = { counts: { ...counts }, left_out: [...leftOut] };
      await onWritten({ exported_at: exportedAt, shards, traversal: position, ...copies });
    },
    { onProgress, lists: EXPORTED_LISTS, from: start?.traversal, visited: visitedBefore() },
  );
  // An erasure may have deleted what wasn't read yet. Without its last line an export is incomplete.
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
