import type { IdFindings } from "@work-items/importer/checks/repeated-ids.ts";
import type { FileIds } from "./file-ids.ts";
import { countOf } from "./shown.ts";

/** Names the first IDs that more than one row has, if any has. */
export function RepeatedIdsNote({ repeated, repeatedRows }: IdFindings) {
  if (repeatedRows === 0) return null;
  return (
    <div class="warning">
      <p>
        <strong>
          {countOf(repeatedRows, "row")} repeat{repeatedRows === 1 ? "s" : ""} the ID of an earlier row.
        </strong>{" "}
        The later row wins: its values replace those of the earlier one.
      </p>
      <p class="ids">
        {repeatedRows > repeated.length && "The first: "}
        {repeated.map(({ externalId, firstRow, row }) => (
          <span key={externalId}>
            <b>{externalId}</b> in rows {firstRow} and {row}
          </span>
        ))}
      </p>
    </div>
  );
}

/** What is known of the IDs of the whole file, before it is sent. */
export function FileIdsNote({ part, findings }: FileIds) {
  return (
    <div role="status">
      {part !== undefined && (
        <p>
          Looking for repeated IDs in the whole file…{" "}
          <progress value={part} aria-label="Part of the file that was read" />
        </p>
      )}
      {findings?.isComplete === true && findings.repeatedRows === 0 && (
        <p class="good">No ID repeats in the whole file.</p>
      )}
      {findings?.isComplete === false && (
        <p class="unchecked">Not all IDs of this file can be compared here: later rows may repeat an earlier ID.</p>
      )}
      {findings && <RepeatedIdsNote {...findings} />}
    </div>
  );
}
