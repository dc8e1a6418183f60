import { useState } from "preact/hooks";
import { FillDown } from "@work-items/importer/files/fill-down.ts";
import { repairedCells } from "@work-items/importer/files/repairs.ts";
import { Check, OpenForm, Table } from "../parts/parts.tsx";
import { shownStart } from "../parts/shown.ts";
import type { Match } from "../file/use-import.ts";
import type { FormProps, MatchLine } from "./match-line.ts";

/** How many resulting rows are shown, */
const SHOWN_ROWS = 3;
/** and how many columns after the filled ones. */
const SHOWN_OTHERS = 3;
const SHOWN_CHARACTERS = 40;

/** Offers to fill down columns that have a value only in the first row of each group, and shows resulting rows. */
function FillForm({ match: { table, fillable, isReading, onFill }, onNext }: FormProps) {
  const { before, others } = fillable;
  const { names, rows, headerRow } = before;
  const columns = before.survey.grouped;
  // Shown while the file is read with it.
  const [choice, setChoice] = useState<readonly number[]>([]);
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
    <OpenForm
      title={`${columns.length === 1 ? "This column has" : "These columns have"} a value only in the first row of each group. Tick to fill it down:`}
      onNext={() => onNext()}
    >
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
    </OpenForm>
  );
}

/** The line about columns that can be filled down; none without them. */
export function fillLine({ table, fillable }: Match): MatchLine[] {
  const { names, survey } = fillable.before;
  const columns = survey.grouped.map((index) => `“${names[index]}”`).join(" and ");
  const text = table.filled ? "filled down" : `${columns} only in the first row of each group`;
  return columns === "" ? [] : [{ name: "Groups", text, form: (props) => <FillForm {...props} /> }];
}
