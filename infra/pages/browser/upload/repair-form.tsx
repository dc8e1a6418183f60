import { useMemo } from "preact/hooks";
import { comparable, numberedNames } from "../../../../lib/uploads/csv/header-names.ts";
import type { FailedRow } from "@work-items/importer/checks/failed-values.ts";
import { readRowProblem, type RowProblem } from "./check-rows.ts";
import type { Repairing } from "./failed-values-form.tsx";
import { Table, Verdict } from "./parts.tsx";
import { repairedCells, withRepair } from "@work-items/importer/files/repairs.ts";
import { countOf } from "./shown.ts";

/** A cell that a person can correct, and what is still wrong with it. */
interface OpenCell {
  readonly row: number;
  readonly column: number;
  readonly name: string;
  readonly value: string;
  readonly problem: string | undefined;
}

function idOf({ row, column }: Pick<OpenCell, "row" | "column">): string {
  return `cell-${row}-${column}`;
}

/** The cells of a row that were corrected, and the one that is wrong now. */
function openCells(names: readonly string[], { row, cells }: FailedRow, now: readonly string[], found?: RowProblem) {
  const wrong = found === undefined ? -1 : names.findIndex((name) => comparable(name) === comparable(found.column));
  return names.flatMap((name, column): OpenCell[] => {
    const value = now[column] ?? "";
    if (column !== wrong && value === (cells[column] ?? "")) return [];
    return [{ row, column, name, value, problem: column === wrong ? found?.sentence : undefined }];
  });
}

/** Failed rows whose cells can be corrected here; the file on the person's disk stays as it is. */
export function RepairForm({
  names: header,
  mapping,
  failed,
  repairs,
  onRepair,
}: Repairing & { readonly failed: readonly FailedRow[] }) {
  const names = useMemo(() => numberedNames(header), [header]);
  const problemOf = useMemo(() => readRowProblem(header, mapping), [header, mapping]);
  const open = failed.flatMap((each) => {
    const now = repairedCells(each.cells, repairs.get(each.row));
    return openCells(names, each, now, problemOf(now));
  });
  const wrong = open.filter(({ problem }) => problem !== undefined);
  const correct = ({ row, column }: OpenCell, value: string): void => {
    const original = failed.find((each) => each.row === row)?.cells[column] ?? "";
    onRepair(withRepair(repairs, { row, column, original }, value));
  };
  if (open.length === 0) return null;
  return (
    <>
      <p role="status">
        {wrong.length === 0
          ? `${countOf(open.length, "value")} corrected. Run the trial again to see what the corrected rows do.`
          : `Correct ${countOf(wrong.length, "value")} here, and import without changing your file:`}{" "}
        {wrong.map((cell) => (
          <a key={idOf(cell)} class="jump" href={location.hash} onClick={(event) => focusOn(event, cell)}>
            row {cell.row}
          </a>
        ))}
      </p>
      <Table
        caption="Values to correct"
        columns={["Row", "Column", "Value", "Problem"]}
        kind="repairs"
        keys={open.map(idOf)}
        rows={open.map((cell) => [
          cell.row,
          cell.name,
          <input
            key="value"
            id={idOf(cell)}
            value={cell.value}
            aria-label={`Row ${cell.row}, ${cell.name}`}
            aria-invalid={cell.problem !== undefined}
            aria-describedby={`${idOf(cell)}-problem`}
            onInput={({ currentTarget }) => correct(cell, currentTarget.value)}
            spellcheck={false}
            autocomplete="off"
          />,
          <Verdict key="problem" id={`${idOf(cell)}-problem`} problem={cell.problem} />,
        ])}
      />
    </>
  );
}

function focusOn(event: Event, cell: OpenCell): void {
  event.preventDefault();
  document.querySelector<HTMLElement>(`#${idOf(cell)}`)?.focus();
}
