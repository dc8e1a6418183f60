import { isoTime } from "../clock.ts";
import { assertKept, assertSame, getOrganization } from "./administration.ts";
import { type OnDamaged, stopAtDamaged, unlessDamaged } from "../store/decode-record.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { EVENT_SORT_KEY_PREFIX, ITEM_SORT_KEY } from "../work-items/work-item-record.ts";
import {
  conversationUploadLine,
  type CustomerCounts,
  type CustomerLine,
  eventLine,
  firstLine,
  workItemLine,
} from "./customer-lines.ts";
import { scanOrganization, type ScanPage, type ScanPlace, type ScanProgress, scanStart } from "./customer-records.ts";
import { exportedAs } from "./kinds-of-data.ts";

type Counts = { -readonly [K in keyof CustomerCounts]: CustomerCounts[K] };

/** How far an export has come. */
export interface ExportPlace {
  /** ISO 8601: when it began. */
  readonly exported_at: string;
  readonly counts: CustomerCounts;
  readonly segments: readonly (ScanPlace & {
    /** The item whose events come next: a partition may be continued on the next page. */
    readonly item?: { readonly pk: string; readonly external_id: string } | undefined;
  })[];
}
/** Options of an export. */
export interface ExportOptions {
  readonly onProgress?: (progress: ScanProgress) => void;
  /** Called with each record that can't be read. The export leaves it out, and an item's events with it. @default throws */
  readonly onDamaged?: OnDamaged;
  /** Where an interrupted export continues. @default it begins */
  readonly from?: ExportPlace | undefined;
  /** Called after each chunk with the place after it. The export waits for it. */
  readonly onWritten?: (place: ExportPlace) => Promise<void>;
}

/**
 * Exports work items, deleted ones too, their events and the conversation uploads of an organization. Each item comes
 * before its events. Each record that exists throughout is exported once, as it was before or after any change meanwhile;
 * what is created or erased meanwhile may be in it. The last line is only written if all of this holds, but for records
 * that can't be read: it says how many were left out.
 * @param write gets a chunk of lines, each with its line feed; the export waits for it
 * @returns how many there were, as the last line says, and the read request units that the scan has consumed
 * @throws NotFoundError, StoreBusyError, StateConflictError if the organization is being erased, or was made again
 */
export async function exportOrganization(
  runtime: RuntimeWith<"workItems" | "access">,
  organization: string,
  write: (lines: string) => Promise<void>,
  { onProgress, onDamaged = stopAtDamaged, from, onWritten = async () => undefined }: ExportOptions = {},
) {
  const before = await getOrganization(runtime, organization);
  assertKept(before);
  const exportedAt = from?.exported_at ?? isoTime(runtime.clock());
  const counts: Counts = { work_items: 0, events: 0, conversation_uploads: 0, ...from?.counts };
  const segments: ExportPlace["segments"][number][] = [...(from?.segments ?? scanStart())];
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
  const linesOf = ({ records, segment, place }: ScanPage): CustomerLine[] => {
    let { item } = segments[segment] ?? {};
    const lines = records.flatMap((record): CustomerLine[] => {
      const kind = exportedAs(record);
      if (kind === null) return [];
      if (kind === "conversation upload") return lineOf("conversation_uploads", () => conversationUploadLine(record));
      if (record.sk === ITEM_SORT_KEY) {
        const own = lineOf("work_items", () => workItemLine(record));
        item = own.length === 0 ? undefined : { pk: record.pk, external_id: String(record["external_id"]) };
        return own;
      }
      // Without its item an event cannot be seen by anybody.
      if (item?.pk !== record.pk || !record.sk.startsWith(EVENT_SORT_KEY_PREFIX)) return [];
      const { external_id: externalId } = item;
      return lineOf("events", () => eventLine(externalId, record));
    });
    segments[segment] = { ...place, item };
    return lines;
  };

  let writing = from === undefined ? write(textOf(firstLine(organization, exportedAt))) : Promise.resolve();
  const { readUnits } = await scanOrganization(
    runtime,
    organization,
    async (page) => {
      // One page after the other, so that no two are mixed, and the place is that of what is written.
      writing = writing.then(async () => {
        await write(linesOf(page).map(textOf).join(""));
        await onWritten({ exported_at: exportedAt, counts: { ...counts }, segments: [...segments] });
      });
      await writing;
    },
    onProgress,
    [...segments],
  );
  // Without its last line an export is not complete: an erasure may have deleted what was not read yet.
  assertSame(before, await getOrganization(runtime, organization));
  await write(textOf({ end: counts }));
  return { counts, readUnits };
}
