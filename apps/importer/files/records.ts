import { RecordCut } from "../../../lib/uploads/csv/csv-text.ts";

/** Changes the records of a CSV text that comes in pieces. */
export function mapRecords(change: (record: string) => string): TransformStream<string, string> {
  const cut = new RecordCut();
  return new TransformStream({
    transform: (piece, controller) => {
      const done = cut.next(piece).map(change).join("");
      // The service reports a row that is too long.
      controller.enqueue(cut.isTooLong ? done + cut.take() : done);
    },
    flush: (controller) => {
      const last = cut.take();
      if (last !== "") controller.enqueue(change(last));
    },
  });
}
