import { isoTime } from "../clock.ts";
import type { Attributes, RecordKey } from "../dynamodb/versioned-record.ts";
import { getOrganization } from "../organizations/administration.ts";
import type { RuntimeWith } from "../runtime/runtime.ts";
import { ITEM_SORT_KEY } from "../work-items/work-item-record.ts";
import {
  conversationUploadLine,
  type CustomerCounts,
  type CustomerLine,
  eventLine,
  firstLine,
  workItemLine,
} from "./customer-lines.ts";
import { kindOf, scanOrganization, type ScanProgress } from "./customer-records.ts";

/**
 * Exports work items, deleted ones too, their events and the conversation uploads of an organization. Each item comes
 * before its events. A record that is changed meanwhile is exported as it was before or after the change.
 * @param write gets a chunk of lines, each with its line feed; the export waits for it
 * @returns how many there were, as the last line says
 * @throws NotFoundError
 */
export const exportOrganization = async (
  runtime: RuntimeWith<"workItems" | "access">,
  organization: string,
  write: (lines: string) => Promise<void>,
  onProgress?: (progress: ScanProgress) => void,
): Promise<CustomerCounts> => {
  await getOrganization(runtime, organization);
  const counts = { work_items: 0, events: 0, conversation_uploads: 0 };
  const textOf = (line: CustomerLine): string => `${JSON.stringify(line)}\n`;
  /** The item whose events come next, by segment: a partition may be continued on the next page. */
  const items = new Map<number, { readonly pk: string; readonly externalId: string }>();

  const linesOf = (record: Attributes & RecordKey, segment: number): CustomerLine[] => {
    const kind = kindOf(record);
    if (kind === "CONVERSATION") {
      counts.conversation_uploads += 1;
      return [conversationUploadLine(record)];
    }
    if (kind !== "ITEM") return [];
    if (record.sk === ITEM_SORT_KEY) {
      items.set(segment, { pk: record.pk, externalId: String(record["external_id"]) });
      counts.work_items += 1;
      return [workItemLine(record)];
    }
    const item = items.get(segment);
    // Without its item an event cannot be seen by anybody.
    if (item?.pk !== record.pk) return [];
    counts.events += 1;
    return [eventLine(item.externalId, record)];
  };

  let writing = write(textOf(firstLine(organization, isoTime(runtime.clock()))));
  await scanOrganization(
    runtime,
    organization,
    async (records, segment) => {
      const lines = records.flatMap((record) => linesOf(record, segment)).map(textOf);
      // One chunk after the other, so that no two are mixed.
      writing = writing.then(() => write(lines.join("")));
      await writing;
    },
    onProgress,
  );
  await write(textOf({ end: counts }));
  return counts;
};
