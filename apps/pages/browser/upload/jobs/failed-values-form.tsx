import type { FailedValue, FailedValues } from "./failed-values.ts";
import { readTime, timeReadingsOf } from "@work-items/importer/proposals/time-formats.ts";
import { fieldOf } from "@work-items/lib/uploads/csv/target.ts";
import { singlesOf, targetsOf } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import type { Mapping } from "@work-items/lib/uploads/mapping/mapping.ts";
import { exampleOf, readRowProblem } from "../file/check-rows.ts";
import { Button, Choice, type Options, Table, TextField } from "../parts/parts.tsx";
import { choiceOptions } from "../parts/field-names.ts";
import type { Sent } from "../file/send.ts";
import { countOf } from "../parts/shown.ts";
import { aliasOf, isMadeOf, withReplacement } from "../file/sources.ts";

/** A file whose failed rows are corrected after its trial. */
interface RepairProps {
  readonly sent: Sent;
  readonly onSent: (sent: Sent) => void;
}

/** Further lines are shown once the first are corrected. */
const SHOWN_VALUES = 50;
const CHOOSE = "\0";

/** A column's field, and the source that is made of the column alone; undefined if there is none. */
export function usedAs(mapping: Mapping, column: string) {
  return targetsOf(mapping)
    .flatMap((each) => singlesOf(each).map(({ source }) => ({ source, field: fieldOf(each.target) })))
    .find(({ source }) => isMadeOf(source, column));
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

function Instead({ sent, onSent, failed: { column, value } }: RepairProps & { readonly failed: FailedValue }) {
  const { mapping } = sent;
  const used = usedAs(mapping, column);
  const instead = used && aliasOf(used.source, value);
  const onChange = (text: string): void =>
    onSent({ ...sent, mapping: withReplacement(mapping, column, value, text) ?? mapping });
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

/** Values that fail rows. Each has a line that corrects all its rows; the file on the person's disk stays as it is. */
export function FailedValuesForm({
  sent,
  names,
  values,
  onSent,
}: RepairProps & Pick<FailedValues, "names" | "values">) {
  const { mapping } = sent;
  if (values.length === 0) return null;
  const shown = values.slice(0, SHOWN_VALUES);
  const problemOf = readRowProblem(names, mapping);
  return (
    <>
      <p role="status">
        {countOf(values.length, "value")} {values.length === 1 ? "doesn’t fit. Replace it" : "don’t fit. Replace each"}{" "}
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
            <span class={problem === undefined ? "good" : "note bad"}>{problem ?? "✓ Fits now"}</span>,
          ];
        })}
      />
      {values.length > SHOWN_VALUES && <p class="note">and {countOf(values.length - SHOWN_VALUES, "more value")}.</p>}
    </>
  );
}
