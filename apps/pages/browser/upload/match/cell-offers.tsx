import { useState } from "preact/hooks";
import { FillDown } from "@work-items/importer/files/fill-down.ts";
import { idColumn, noteOfCleaning } from "@work-items/importer/ids/clean-ids.ts";
import { SEPARATORS } from "@work-items/importer/ids/id-forms.ts";
import { repairedCells } from "@work-items/importer/files/repairs.ts";
import type { Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { Check, Table } from "../parts/parts.tsx";
import { countOf, shownStart } from "../parts/shown.ts";
import { changeSingles, withKey } from "../file/sources.ts";
import { asSentence } from "../file/table-file.ts";
import type { Match } from "../file/use-import.ts";

/** How many resulting rows are shown, */
const SHOWN_ROWS = 3;
/** and how many columns after the filled ones. */
const SHOWN_OTHERS = 3;
const SHOWN_CHARACTERS = 40;

/** Offers to fill down columns that have a value only in the first row of each group, and shows resulting rows. */
export function FillForm({ match: { table, fillable, isReading, onFill } }: { readonly match: Match }) {
  const { before, others } = fillable;
  const { names, rows, headerRow } = before;
  const columns = before.survey.grouped;
  // Shown while the file is read with it.
  const [choice, setChoice] = useState<readonly number[]>([]);
  if (columns.length === 0) return null;
  const chosen = isReading ? choice : (table.filled?.columns ?? []);
  const toggle = (index: number): void => {
    const next = columns.filter((each) => chosen.includes(each) !== (each === index));
    setChoice(next);
    onFill(next);
  };
  const filler = new FillDown({ headerRow, columns: chosen.length > 0 ? chosen : columns, others });
  filler.valuesFor(headerRow, names);
  const results = rows.flatMap((cells, index) => {
    const row = headerRow + 1 + index;
    const values = filler.valuesFor(row, cells);
    return values.size === 0 ? [] : [{ row, values, cells: repairedCells(cells, values) }];
  });
  const shown = names.slice(0, Math.max(...columns) + 1 + SHOWN_OTHERS);
  return (
    <fieldset class="question">
      <legend>
        {columns.length === 1 ? "This column has" : "These columns have"} a value only in the first row of each group.
        Tick to fill it down:
      </legend>
      {columns.map((index) => (
        <Check key={index} checked={chosen.includes(index)} onChange={() => toggle(index)}>
          Fill down “{names[index]}”
        </Check>
      ))}
      <Table
        caption="Rows as they are filled down"
        columns={["Row", ...shown]}
        rows={results.slice(0, SHOWN_ROWS).map(({ row, values, cells }) => [
          row,
          ...shown.map((_, index) => {
            const text = shownStart(cells[index] ?? "", SHOWN_CHARACTERS);
            return values.has(index) ? <b>{text}</b> : text;
          }),
        ])}
      />
      <p role="status">{isReading && "Reading the file…"}</p>
    </fieldset>
  );
}

/** Offers to remove outer spaces of the IDs, if some have any. */
export function SpacesForm({ match: { mapping, ids, onChange } }: { readonly match: Match }) {
  const { external_id: source, ...others } = mapping.fields ?? {};
  const rows = ids.findings?.spacedRows ?? 0;
  const isTrimmed = source !== undefined && [source, ...(source.first_of ?? [])].some(({ trim }) => trim === true);
  if (source === undefined || (rows === 0 && !isTrimmed)) return null;
  const trimmed = (trims: boolean): Source =>
    changeSingles(source, (single) => withKey(single, "trim", trims && single.digest !== true ? true : undefined));
  return (
    <Check
      checked={isTrimmed}
      onChange={(trims) => onChange({ ...mapping, fields: { external_id: trimmed(trims), ...others } })}
    >
      Remove spaces around the ID{rows > 0 && ` (${countOf(rows, "row")})`}
    </Check>
  );
}

/** Says what isn't imported of the IDs, or offers to leave out their separators of thousands. */
export function CleanIdsForm({ match: { table, mapping, ids, isReading, onClean } }: { readonly match: Match }) {
  // Shown while the file is read with it.
  const [choice, setChoice] = useState(false);
  const { cleaned, names } = table;
  const column = idColumn(mapping, names);
  const { wrapping = SEPARATORS, example } = cleaned ?? ids.findings ?? {};
  if (column === -1 || example === undefined) return null;
  if (wrapping !== SEPARATORS) {
    return <p class="unchecked">{asSentence(noteOfCleaning({ wrapping, example }, names[column] ?? ""))}</p>;
  }
  return (
    <Check
      checked={isReading ? choice : cleaned !== undefined}
      onChange={(cleans) => {
        setChoice(cleans);
        onClean(cleans ? { column, wrapping, example } : undefined);
      }}
    >
      Remove the {wrapping.name} from the ID: {example} becomes {wrapping.inside(example)}
    </Check>
  );
}
