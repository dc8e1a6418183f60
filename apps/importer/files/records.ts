import { RecordCut } from "@work-items/lib/uploads/csv/csv-text.ts";

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

/** The content of a file in UTF-8, changed by transforms of its text. */
export function withChanges(
  content: Blob,
  ...changes: readonly TransformStream<string, string>[]
): ReadableStream<Uint8Array> {
  const text: ReadableStream<string> = content.stream().pipeThrough(new TextDecoderStream());
  return changes.reduce((each, change) => each.pipeThrough(change), text).pipeThrough(new TextEncoderStream());
}
