import { RecordEnds, ROW_MAX_CHARACTERS } from "../../../lib/uploads/csv/csv-text.ts";

/** Cuts a CSV text that comes in pieces into its records. */
export class RecordCut {
  readonly #ends = new RecordEnds();
  #rest = "";

  /** Whether the incomplete record is longer than a row may be. */
  get isTooLong(): boolean {
    return this.#rest.length > ROW_MAX_CHARACTERS;
  }

  /** The records that the next piece completes, with their line ends. */
  next(piece: string): string[] {
    let start = 0;
    const records = this.#ends.next(piece).map((end) => {
      const record = this.take() + piece.slice(start, end);
      start = end;
      return record;
    });
    this.#rest += piece.slice(start);
    return records;
  }

  /** Takes the incomplete record: at the end of the text, a record without line end. */
  take(): string {
    const rest = this.#rest;
    this.#rest = "";
    return rest;
  }
}

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
