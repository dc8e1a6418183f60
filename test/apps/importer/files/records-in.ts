import { RecordCut } from "../../../../lib/uploads/csv/csv-text.ts";

/** The records of a whole text, with their line ends. */
export const recordsIn = (text: string): string[] => {
  const cut = new RecordCut();
  return [...cut.next(text), cut.take()].filter(Boolean);
};
