import { type FailedValue, type FailedValues, withValue } from "@work-items/importer/checks/failed-values.ts";
import type { Repairs } from "@work-items/importer/files/repairs.ts";
import { readTime, timeReadingsOf } from "@work-items/importer/proposals/time-formats.ts";
import { comparable } from "../../../../lib/uploads/csv/header-names.ts";
import { fieldOf } from "../../../../lib/uploads/csv/target.ts";
import { singlesOf, targetsOf } from "../../../../lib/uploads/mapping/check-mapping.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { exampleOf, readRowProblem } from "./check-rows.ts";
import { Choice, TableFrame, TextField } from "./parts.tsx";
import { choiceOptions } from "./reading-fields.tsx";
import { countOf, shownNumber } from "./shown.ts";
import { aliasOf } from "./sources.ts";

/** What is required to correct rows in the page. */
export interface Repairing {
  /** The header of the file. */
  readonly names: readonly string[];
  readonly mapping: Mapping;
  readonly repairs: Repairs;
  /** The mapping with which the rows failed. */
  readonly before: Mapping;
  readonly onRepair: (repairs: Repairs) => void;
  readonly onMapping: (mapping: Mapping) => void;
}

/** More lines are shown after the first are corrected. */
const SHOWN_VALUES = 50;
const CHOOSE = "\0";

/** What a column becomes, and the source that is made of it; undefined if it is no source by itself. */
function usedAs(mapping: Mapping, column: string) {
  return targetsOf(mapping)
    .flatMap((each) => singlesOf(each).map(({ source }) => ({ source, field: fieldOf(each.target) })))
    .find(({ source }) => source.column !== undefined && comparable(source.column) === comparable(column));
}

/**
 * What a date may mean that another format reads, such as "2024-03-04 14:00", as ISO 8601: both where it can be read in
 * two ways.
 */
function datesIn({ field, source }: NonNullable<ReturnType<typeof usedAs>>, value: string): string[] {
  if (field?.kind.name !== "time" || source.format !== undefined) return [];
  const shapes = [{ examples: [value], rows: 1 }];
  const readings = timeReadingsOf(shapes)?.formats.map((format) => readTime(value, format, "UTC")) ?? [];
  // It is in the time zone of the other values: what is read as if it was in UTC is the time as it is written.
  return readings.flatMap((time) => time?.slice(0, 16).replace("T", " ").replace(" 00:00", "") ?? []);
}

/** Whether a value is corrected once for all rows that have it, and not in its only row. */
function isShared(mapping: Mapping, { column, rows }: Pick<FailedValue, "column" | "rows">): boolean {
  const used = usedAs(mapping, column);
  return used !== undefined && (rows > 1 || used.field?.kind.choices !== undefined);
}

/** Whether a row fails by a value that is corrected for all of its rows. */
export function isByValue(
  mapping: Mapping,
  values: FailedValues["values"],
  row: { readonly column: string; readonly value: string },
): boolean {
  const own = values.find(({ column, value }) => column === row.column && comparable(value) === comparable(row.value));
  return own !== undefined && isShared(mapping, own);
}

/** The values that fail several rows, or that are choices: a line each, which is corrected once for all its rows. */
export function FailedValuesForm({
  names,
  mapping,
  before,
  values,
  onMapping,
}: Repairing & Pick<FailedValues, "values">) {
  const shared = values.filter((each) => isShared(before, each));
  if (shared.length === 0) return null;
  const problemOf = readRowProblem(names, mapping);
  return (
    <>
      <p role="status">
        {countOf(shared.length, "value")} {shared.length === 1 ? "fails its rows" : "fail their rows"}. Say once what to
        use instead, for all rows:
      </p>
      <TableFrame
        caption="Values to replace"
        columns={["Rows", "Column", "Value", "Use instead", "Problem"]}
        kind="repairs"
      >
        {shared.slice(0, SHOWN_VALUES).map((each) => {
          const used = usedAs(mapping, each.column);
          const instead = used && aliasOf(used.source, each.value);
          const set = (text: string): void => onMapping(withValue(mapping, each.column, each.value, text) ?? mapping);
          const found = instead === undefined ? exampleOf(each) : problemOf(each.first.cells)?.sentence;
          const label = `Instead of “${each.value}” in ${each.column}`;
          return (
            <tr key={each.column + each.value}>
              <td>{shownNumber(each.rows)}</td>
              <td>{each.column}</td>
              <td>{each.value}</td>
              <td>
                {used?.field?.kind.choices ? (
                  <Choice
                    label={label}
                    isLabelHidden
                    value={instead ?? CHOOSE}
                    options={[[CHOOSE, "Choose…"], ...choiceOptions(used.field.kind.choices), ["", "Leave empty"]]}
                    onChange={set}
                  />
                ) : (
                  <>
                    <TextField label={label} isLabelHidden value={instead ?? each.value} onChange={set} />
                    {(used ? datesIn(used, each.value) : []).map((date) => (
                      <button key={date} type="button" class="plain" onClick={() => set(date)}>
                        Use {date}
                      </button>
                    ))}
                    <button type="button" class="plain" onClick={() => set("")}>
                      Leave empty
                    </button>
                  </>
                )}
              </td>
              <td class={found === undefined ? "good" : "misfit"}>{found ?? "✓ Fits now"}</td>
            </tr>
          );
        })}
      </TableFrame>
      {shared.length > SHOWN_VALUES && <p class="note">and {countOf(shared.length - SHOWN_VALUES, "more value")}.</p>}
    </>
  );
}
