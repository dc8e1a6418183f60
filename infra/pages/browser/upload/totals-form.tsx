import type { NumberedRow } from "@work-items/importer/proposals/survey.ts";

/** So many cells of a row are shown. */
const SHOWN_CELLS = 6;

/** Rows that look like sums, and which of them are imported. */
export interface TotalsFormProps {
  readonly totals: readonly NumberedRow[];
  /** Numbers of the rows that are imported like any other. */
  readonly kept: ReadonlySet<number>;
  readonly onChange: (kept: ReadonlySet<number>) => void;
}

/** The rows that look like sums: left out, unless a person wants them. */
export function TotalsForm({ totals, kept, onChange }: TotalsFormProps) {
  if (totals.length === 0) return null;
  return (
    <fieldset class="question">
      <legend>These rows look like totals. Rows that are checked aren’t imported:</legend>
      {totals.map(({ row, cells }) => (
        <label key={row}>
          <input
            type="checkbox"
            checked={!kept.has(row)}
            onChange={({ currentTarget }) => {
              const others = [...kept].filter((each) => each !== row);
              onChange(new Set(currentTarget.checked ? others : [...others, row]));
            }}
          />
          Leave out row {row}:{" "}
          {cells
            .filter((cell) => cell.trim() !== "")
            .slice(0, SHOWN_CELLS)
            .join(", ")}
        </label>
      ))}
    </fieldset>
  );
}
