import { readHeader } from "@work-items/lib/uploads/mapping/file-format.ts";
import { readCsv } from "@work-items/lib/uploads/csv/csv-reader.ts";
import type { RowReader } from "@work-items/lib/uploads/csv/row-reader.ts";
import type { Mapping } from "@work-items/lib/uploads/mapping/mapping.ts";
import type { WorkItemInput } from "@work-items/lib/work-items/work-item.ts";
import { CommandError } from "@work-items/terminal/command-line.ts";

/** Limit of the events of one work item in a call. */
const EVENTS_MAX = 99;

/** An item made of two of its rows; the second wins. */
function merged(first: WorkItemInput, second: WorkItemInput): WorkItemInput {
  return {
    ...first,
    ...second,
    custom_attributes: { ...first.custom_attributes, ...second.custom_attributes },
    events: [...(first.events ?? []), ...(second.events ?? [])],
  };
}

/**
 * Reads a file with a mapping, as an upload does, into work items for batches. Merges rows of the same item, up to the
 * limit of events in a call.
 * @throws CommandError if a row can't be read
 */
export async function readItems(source: AsyncIterable<Uint8Array>, mapping: Mapping): Promise<WorkItemInput[]> {
  const items: WorkItemInput[] = [];
  const indexes = new Map<string, number>();
  let reader: RowReader | undefined;
  for await (const { records } of readCsv(source, { delimiter: mapping.delimiter ?? "," })) {
    for (const record of records) {
      if (reader === undefined) {
        ({ reader } = readHeader(record, mapping));
        continue;
      }
      const cells = record.cells();
      if (reader.isEmpty(cells)) continue;
      const reading = reader.read(cells);
      if ("error" in reading) throw new CommandError(`row ${record.row}: ${reading.error.message}`);
      const { input } = reading;
      const index = indexes.get(input.external_id);
      const before = index === undefined ? undefined : items[index];
      if (before !== undefined && index !== undefined && (before.events?.length ?? 0) < EVENTS_MAX) {
        items[index] = merged(before, input);
      } else {
        indexes.set(input.external_id, items.push(input) - 1);
      }
    }
  }
  return items;
}
