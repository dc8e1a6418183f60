import { lineEndOf, RecordEnds, toCell } from "../../../../lib/uploads/csv/csv-text.ts";
import type { Delimiter } from "../../../../lib/uploads/csv/delimiter.ts";

/** Cells of corrected rows, by the row's number in the file. Numbers are those of a spreadsheet: blank lines count. */
export type Repairs = ReadonlyMap<number, readonly string[]>;

export const NO_REPAIRS: Repairs = new Map();

/** Replaces the corrected rows of a CSV text that comes in pieces. All other rows stay as they are, to the byte. */
function repairRows(repairs: Repairs, delimiter: Delimiter): TransformStream<string, string> {
  const ends = new RecordEnds();
  let rest = "";
  let row = 0;
  const repaired = (record: string): string => {
    const cells = repairs.get((row += 1));
    if (cells === undefined) return record;
    return cells.map((cell) => toCell(cell, delimiter)).join(delimiter) + lineEndOf(record);
  };
  return new TransformStream({
    transform: (piece, controller) => {
      const before = rest.length;
      rest += piece;
      let start = 0;
      for (const end of ends.next(piece)) {
        controller.enqueue(repaired(rest.slice(start, before + end)));
        start = before + end;
      }
      rest = rest.slice(start);
    },
    flush: (controller) => {
      if (rest !== "") controller.enqueue(repaired(rest));
    },
  });
}

/** The content of a file in UTF-8 with its corrected rows. */
export async function withRepairs(content: Blob, repairs: Repairs, delimiter: Delimiter): Promise<Blob> {
  if (repairs.size === 0) return content;
  const text = content.stream().pipeThrough(new TextDecoderStream());
  return new Response(text.pipeThrough(repairRows(repairs, delimiter)).pipeThrough(new TextEncoderStream())).blob();
}
