import { NOT_COMPARED } from "@work-items/importer/ids/repeated-ids.ts";
import { notesOf } from "@work-items/importer/files/sheet-notes.ts";
import type { FileIds } from "../file/file-ids.ts";
import { Check, OpenForm } from "../parts/parts.tsx";
import { countOf, shownPart } from "../parts/shown.ts";
import { asSentence, type TableFile } from "../file/table-file.ts";
import type { Match } from "../file/use-import.ts";
import type { FormProps, MatchLine } from "./match-line.ts";

/** How many cells of a row are shown. */
const SHOWN_CELLS = 6;
/** Further rows are chosen all at once. */
const SHOWN_TOTALS = 20;

/** A warning that names the first IDs of some rows. */
function IdsNote({
  title,
  isPart,
  ids,
  children,
}: {
  readonly title: string;
  /** Whether there are more than the named ones. */
  readonly isPart: boolean;
  readonly ids: readonly (readonly [externalId: string, text: string])[];
  readonly children: string;
}) {
  return (
    <div class="warning">
      <p>
        <strong>{title}</strong> {children}
      </p>
      <p class="ids">
        {isPart && "The first: "}
        {ids.map(([externalId, text]) => (
          <span key={externalId + text}>
            <b>{externalId}</b> {text}
          </span>
        ))}
      </p>
    </div>
  );
}

/** Says what differs from what the workbook shows. */
export function SheetNotes({ table: { workbook, headerRow } }: { readonly table: TableFile }) {
  const sheet = workbook?.sheets.find(({ name }) => name === workbook.sheet);
  const notes = sheet ? notesOf(sheet, headerRow) : [];
  return (
    <>
      {notes.map((note) => (
        <p key={note} class="unchecked">
          {asSentence(note)}
        </p>
      ))}
    </>
  );
}

/** What is known about the IDs of the whole file, before it is sent. */
export function FileIdsNote({ part, findings }: FileIds) {
  const { repeatedRows, repeated, oddRows, odd } = findings ?? NOT_COMPARED;
  return (
    <div role="status">
      {part !== undefined && (
        <p>
          Looking for repeated IDs in the whole file…{" "}
          <progress value={part} aria-label="Part of the file that was read" /> {shownPart(part)}
        </p>
      )}
      {findings?.isComplete === false && (
        <p class="unchecked">Not all IDs of this file can be compared here: later rows may repeat an earlier ID.</p>
      )}
      {repeatedRows > 0 && (
        <IdsNote
          title={`${countOf(repeatedRows, "row")} repeat${repeatedRows === 1 ? "s" : ""} the ID of an earlier row.`}
          isPart={repeatedRows > repeated.length}
          ids={repeated.map(({ externalId, firstRow, row }) => [externalId, `in rows ${firstRow} and ${row}`])}
        >
          The later row wins: its values replace those of the earlier one.
        </IdsNote>
      )}
      {oddRows > 0 && (
        <IdsNote
          title={`${countOf(oddRows, "row")} ${oddRows === 1 ? "has an ID that differs" : "have IDs that differ"} from what you see.`}
          isPart={oddRows > odd.length}
          ids={odd.map(({ externalId, row, oddity }) => [externalId, `in row ${row} has ${oddity}`])}
        >
          Spaces and hidden characters are part of an ID, so such a row is a separate item.
        </IdsNote>
      )}
    </div>
  );
}

/** Rows that don't look like items, such as sums. They are left out unless a person wants them. */
function TotalsForm({ match: { totals, keptTotals, keepTotals }, onNext }: FormProps) {
  const shown = totals.slice(0, SHOWN_TOTALS);
  const others = totals.slice(SHOWN_TOTALS);
  const hidden = new Set(others.map(({ row }) => row));
  return (
    <OpenForm title="These rows look like totals, notes or headers. Untick a row to import it:" onNext={() => onNext()}>
      {shown.map(({ row, cells }) => (
        <Check
          key={row}
          checked={!keptTotals.has(row)}
          onChange={() => keepTotals(keptTotals.symmetricDifference(new Set([row])))}
        >
          Leave out row {row}:{" "}
          {cells
            .filter((cell) => cell.trim() !== "")
            .slice(0, SHOWN_CELLS)
            .join(", ")}
        </Check>
      ))}
      {others.length > 0 && (
        <Check
          checked={!keptTotals.has(others[0]!.row)}
          onChange={(isOut) => keepTotals(isOut ? keptTotals.difference(hidden) : keptTotals.union(hidden))}
        >
          Leave out {countOf(others.length, "more row")} like these, starting with row {others[0]!.row}
        </Check>
      )}
    </OpenForm>
  );
}

/** The line about rows that don't look like items; none without them. */
export function totalsLine({ totals, keptTotals }: Match): MatchLine[] {
  if (totals.length === 0) return [];
  const left = totals.filter(({ row }) => !keptTotals.has(row));
  const text = left.length === 0 ? "all imported" : `${countOf(left.length, "row")} left out`;
  return [{ name: "Totals and notes", text, form: (props) => <TotalsForm {...props} /> }];
}
