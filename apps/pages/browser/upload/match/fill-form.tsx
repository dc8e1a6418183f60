import { withGroups } from "../file/answers.ts";
import { Question } from "../parts/parts.tsx";
import type { Match } from "../file/use-import.ts";
import type { FormProps, MatchLine } from "./match-line.ts";

const FILL = "fill";
const LEAVE = "leave";

/** Asks whether to fill down the columns that have a value only in the first row of each group. */
function FillForm({ match, onNext }: FormProps) {
  const { table, fillable, isFillAsked, onFill } = match;
  const now = table.filled ? FILL : LEAVE;
  return (
    <Question
      text={`${groupedIn(match)} has a value only in the first row of each group. Fill it down?`}
      answers={[
        [FILL, "Fill it down: the other rows of a group have the same value"],
        [LEAVE, "Leave the other rows empty"],
      ]}
      chosen={isFillAsked ? undefined : now}
      onChoose={(answer) => {
        if (answer !== now) onFill(answer === FILL ? fillable.survey.grouped : []);
        onNext(withGroups(match));
      }}
    />
  );
}

function groupedIn({ fillable: { names, survey } }: Match): string {
  return survey.grouped.map((index) => `“${names[index]}”`).join(" and ");
}

/** The line about columns that can be filled down; none without them. */
export function fillLine(match: Match): MatchLine[] {
  const columns = groupedIn(match);
  const text = match.table.filled ? "filled down" : `${columns} only in the first row of each group`;
  const form = (props: FormProps) => <FillForm {...props} />;
  return columns === "" ? [] : [{ name: "Groups", text, isAsked: match.isFillAsked, form }];
}
