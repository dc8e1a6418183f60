import { useState } from "preact/hooks";
import { type EmptyCells, shownEmptyCells } from "@work-items/importer/checks/empty-cells.ts";
import type { Job } from "../parts/api.ts";
import { Answered, Button } from "../parts/parts.tsx";
import { type Sent, triedBy } from "../file/send.ts";
import { countOf } from "../parts/shown.ts";

/**
 * Asks what empty cells do to existing items, if a trial would update some and the mapping doesn't say it. The answer is part of
 * the mapping.
 */
export function BlankQuestion({
  job: { updated_rows: updated, restored_rows: restored },
  sent,
  cells,
  isSending,
  onSent,
  onSend,
}: {
  readonly job: Job;
  readonly sent: Sent;
  readonly cells: readonly EmptyCells[];
  readonly isSending: boolean;
  readonly onSent: (sent: Sent) => void;
  readonly onSend: (changes: Pick<Sent, "mapping" | "dryRun">) => void;
}) {
  const { mapping, trial } = sent;
  const [isKept, setKept] = useState(false);
  const { reopened = 0 } = trial ?? {};
  const rows = updated + restored;
  const keep = (): void => {
    // The trial did the same.
    const kept = { ...sent, mapping: { ...mapping, blank: "keep" as const } };
    onSent({ ...kept, trial: trial?.of === triedBy(sent) ? { ...trial, of: triedBy(kept), reopened: 0 } : trial });
    setKept(true);
  };
  if (isKept) return <Answered>Empty cells keep what the items have.</Answered>;
  if (rows === 0 || cells.length === 0) return null;
  return (
    <fieldset class="question">
      <legend>Should empty cells clear what items have?</legend>
      <p>
        {countOf(rows, "row")} would update items, and {cells.length === 1 ? "this column has" : "these columns have"}{" "}
        empty cells: {shownEmptyCells(cells)}.
      </p>
      {reopened > 0 && (
        <p class="unchecked">
          {countOf(reopened, "row")} would reopen completed items, which would keep their completion dates. Answer
          before you import.
        </p>
      )}
      <p class="buttons">
        <Button disabled={isSending} onClick={keep}>
          Keep what the items have
        </Button>
        <Button disabled={isSending} onClick={() => onSend({ mapping: { ...mapping, blank: "clear" }, dryRun: true })}>
          Clear it, and run the trial again
        </Button>
      </p>
    </fieldset>
  );
}
