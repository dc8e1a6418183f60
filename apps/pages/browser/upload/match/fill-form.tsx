import { useState } from "preact/hooks";
import { Check, OpenForm } from "../parts/parts.tsx";
import type { Match } from "../file/use-import.ts";
import type { FormProps, MatchLine } from "./match-line.ts";

/** Offers to fill down columns that have a value only in the first row of each group. */
function FillForm({ match: { table, fillable, isReading, onFill }, onNext }: FormProps) {
  const { names, survey } = fillable;
  const columns = survey.grouped;
  // Shown while the file is read with it.
  const [choice, setChoice] = useState<readonly number[]>([]);
  const chosen = isReading ? choice : (table.filled?.columns ?? []);
  const toggle = (index: number): void => {
    const next = columns.filter((each) => chosen.includes(each) !== (each === index));
    setChoice(next);
    onFill(next);
  };
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
      <p role="status">{isReading && "Reading the file…"}</p>
    </OpenForm>
  );
}

/** The line about columns that can be filled down; none without them. */
export function fillLine({ table, fillable }: Match): MatchLine[] {
  const { names, survey } = fillable;
  const columns = survey.grouped.map((index) => `“${names[index]}”`).join(" and ");
  const text = table.filled ? "filled down" : `${columns} only in the first row of each group`;
  return columns === "" ? [] : [{ name: "Groups", text, form: (props) => <FillForm {...props} /> }];
}
