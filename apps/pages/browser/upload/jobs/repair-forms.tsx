import { type FailedRow, type FailedValue, type FailedValues, withValue } from "./failed-values.ts";
import { repairedCells, withRepair } from "@work-items/importer/files/repairs.ts";
import { readTime, timeReadingsOf } from "@work-items/importer/proposals/time-formats.ts";
import { useMemo } from "preact/hooks";
import { comparable, numberedNames } from "@work-items/lib/uploads/csv/header-names.ts";
import { fieldOf } from "@work-items/lib/uploads/csv/target.ts";
import { singlesOf, targetsOf } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import type { Mapping } from "@work-items/lib/uploads/mapping/mapping.ts";
import { exampleOf, readRowProblem, type RowProblem } from "../file/check-rows.ts";
import { Button, Choice, type Options, Table, TextField, Verdict } from "../parts/parts.tsx";
import { choiceOptions } from "../parts/field-names.ts";
import type { Sent } from "../file/send.ts";
import { countOf } from "../parts/shown.ts";
import { aliasOf } from "../file/sources.ts";

/** A file whose failed rows are corrected after its trial. */
interface RepairProps {
  readonly sent: Sent;
  readonly onSent: (sent: Sent) => void;
}

/** Further lines are shown once the first are corrected. */
const SHOWN_VALUES = 50;
const CHOOSE = "\0";

/** A column's field, and the source that is made of the column alone; undefined if there is none. */
function usedAs(mapping: Mapping, column: string) {
  return targetsOf(mapping)
    .flatMap((each) => singlesOf(each).map(({ source }) => ({ source, field: fieldOf(each.target) })))
    .find(({ source }) => source.column !== undefined && comparable(source.column) === comparable(column));
}

/**
 * The readings of a date in other formats, as local ISO 8601 times such as "2024-03-04 14:00": two if it is ambiguous.
 */
function datesIn({ field, source }: NonNullable<ReturnType<typeof usedAs>>, value: string): string[] {
  if (field?.kind.name !== "time" || source.format !== undefined) return [];
  const shapes = [{ examples: [value], rows: 1 }];
  const readings = timeReadingsOf(shapes, Date.now())?.formats.map((format) => readTime(value, format, "UTC")) ?? [];
  // Read as UTC, so that the local time stays as written.
  return readings.flatMap((time) => time?.slice(0, 16).replace("T", " ").replace(" 00:00", "") ?? []);
}

/** Whether a value is corrected once for all rows that have it, instead of in its only row. */
export function isShared(mapping: Mapping, { column, rows }: Pick<FailedValue, "column" | "rows">): boolean {
  const used = usedAs(mapping, column);
  return used !== undefined && (rows > 1 || used.field?.kind.choices !== undefined);
}

function Instead({ sent, onSent, failed: { column, value } }: RepairProps & { readonly failed: FailedValue }) {
  const { mapping } = sent;
  const used = usedAs(mapping, column);
  const instead = used && aliasOf(used.source, value);
  const onChange = (text: string): void =>
    onSent({ ...sent, mapping: withValue(mapping, column, value, text) ?? mapping });
  const field = { label: `Instead of “${value}” in ${column}`, isLabelHidden: true, onChange };
  const choices = used?.field?.kind.choices;
  if (choices) {
    const options: Options = [[CHOOSE, "Choose…"], ...choiceOptions(choices), ["", "Leave empty"]];
    return <Choice {...field} value={instead ?? CHOOSE} options={options} />;
  }
  return (
    <>
      <TextField {...field} value={instead ?? value} />
      {(used ? datesIn(used, value) : []).map((date) => (
        <Button key={date} kind="plain" onClick={() => onChange(date)}>
          Use {date}
        </Button>
      ))}
      <Button kind="plain" onClick={() => onChange("")}>
        Leave empty
      </Button>
    </>
  );
}

/** The values that fail several rows or belong to choices. Each has a line that corrects all its rows. */
export function FailedValuesForm({ sent, values: shared, onSent }: RepairProps & Pick<FailedValues, "values">) {
  const { table, mapping } = sent;
  if (shared.length === 0) return null;
  const shown = shared.slice(0, SHOWN_VALUES);
  const problemOf = readRowProblem(table.names, mapping);
  return (
    <>
      <p role="status">
        {countOf(shared.length, "value")} {shared.length === 1 ? "doesn’t fit. Replace it" : "don’t fit. Replace each"}{" "}
        in all its rows at once:
      </p>
      <Table
        caption="Values to replace"
        columns={["Rows", "Column", "Value", "Use instead", "Problem"]}
        kind="repairs"
        keys={shown.map(({ column, value }) => column + value)}
        rows={shown.map((each) => {
          const { source } = usedAs(mapping, each.column) ?? {};
          const isReplaced = source !== undefined && aliasOf(source, each.value) !== undefined;
          const problem = isReplaced ? problemOf(each.first.cells)?.sentence : exampleOf(each);
          return [
            each.rows,
            each.column,
            each.value,
            <Instead key="instead" failed={each} sent={sent} onSent={onSent} />,
            <Verdict key="problem" problem={problem} />,
          ];
        })}
      />
      {shared.length > SHOWN_VALUES && <p class="note">and {countOf(shared.length - SHOWN_VALUES, "more value")}.</p>}
    </>
  );
}

/** A cell that a person can correct, and what is still wrong with it. */
interface OpenCell {
  readonly row: number;
  readonly column: number;
  readonly name: string;
  readonly value: string;
  readonly problem: string | undefined;
}

function idOfCell({ row, column }: Pick<OpenCell, "row" | "column">): string {
  return `cell-${row}-${column}`;
}

/** The corrected cells of a row, and the one that is wrong now. */
function openCells(names: readonly string[], { row, cells }: FailedRow, now: readonly string[], found?: RowProblem) {
  const wrong = found === undefined ? -1 : names.findIndex((name) => comparable(name) === comparable(found.column));
  return names.flatMap((name, column): OpenCell[] => {
    const value = now[column] ?? "";
    if (column !== wrong && value === (cells[column] ?? "")) return [];
    return [{ row, column, name, value, problem: column === wrong ? found?.sentence : undefined }];
  });
}

function focusOn(event: Event, cell: OpenCell): void {
  event.preventDefault();
  document.querySelector<HTMLElement>(`#${idOfCell(cell)}`)?.focus();
}

/** Failed rows whose cells can be corrected here; the file on the person's disk stays as it is. */
export function RepairForm({ sent, failed, onSent }: RepairProps & { readonly failed: readonly FailedRow[] }) {
  const { mapping, repairs } = sent;
  const header = sent.table.names;
  const names = useMemo(() => numberedNames(header), [header]);
  const problemOf = useMemo(() => readRowProblem(header, mapping), [header, mapping]);
  const open = failed.flatMap((each) => {
    const now = repairedCells(each.cells, repairs.get(each.row));
    return openCells(names, each, now, problemOf(now));
  });
  const wrong = open.filter(({ problem }) => problem !== undefined);
  const correct = ({ row, column }: OpenCell, value: string): void => {
    const original = failed.find((each) => each.row === row)?.cells[column] ?? "";
    onSent({ ...sent, repairs: withRepair(repairs, { row, column, original }, value) });
  };
  if (open.length === 0) return null;
  return (
    <>
      <p role="status">
        {wrong.length === 0
          ? `${countOf(open.length, "value")} corrected. Run the trial again to see what the corrected rows do.`
          : `Fix ${wrong.length === 1 ? "this value" : `these ${countOf(wrong.length, "value")}`} here; your file stays as it is:`}{" "}
        {wrong.map((cell) => (
          <a key={idOfCell(cell)} class="jump" href={location.hash} onClick={(event) => focusOn(event, cell)}>
            row {cell.row}
          </a>
        ))}
      </p>
      <Table
        caption="Values to correct"
        columns={["Row", "Column", "Value", "Problem"]}
        kind="repairs"
        keys={open.map(idOfCell)}
        rows={open.map((cell) => [
          cell.row,
          cell.name,
          <input
            key="value"
            id={idOfCell(cell)}
            value={cell.value}
            aria-label={`Row ${cell.row}, ${cell.name}`}
            aria-invalid={cell.problem !== undefined}
            aria-describedby={`${idOfCell(cell)}-problem`}
            onInput={({ currentTarget }) => correct(cell, currentTarget.value)}
            spellcheck={false}
            autocomplete="off"
          />,
          <Verdict key="problem" id={`${idOfCell(cell)}-problem`} problem={cell.problem} />,
        ])}
      />
    </>
  );
}
