import { useMemo } from "preact/hooks";
import type { Mapping, Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { mappedReader } from "@work-items/lib/uploads/mapping/mapped-columns.ts";
import type { Answered } from "../file/answers.ts";
import { rolesOf, withMadeId } from "../file/column-roles.ts";
import { Button, Check } from "../parts/parts.tsx";
import type { TableFile } from "../file/table-file.ts";
import { withDecision } from "../file/target-choices.ts";
import type { Match } from "../file/use-import.ts";

/** Further columns can only be used in the mapping as JSON. */
const OFFERED_COLUMNS = 60;

function exampleOf({ names, rows }: TableFile, { empty }: Mapping, source: Source): string {
  const own = { fields: { external_id: source }, others: "ignore", ...(empty && { empty }) } as const;
  return rows[0] ? mappedReader(own, names).externalIdOf(rows[0]) : "";
}

/** Makes an ID of several columns if none is an ID. @param onAnswer called with an answer whose question goes away */
export function MadeId({
  match,
  onAnswer,
}: {
  readonly match: Match;
  readonly onAnswer: (answered: Answered) => void;
}) {
  const { table, mapping, check } = match;
  const { names } = table;
  const columns = useMemo(() => rolesOf(names, {}).filter(({ name }) => name !== ""), [names]);
  const source = mapping.fields?.["external_id"];
  const chosen = source?.columns ?? [];
  const all = columns.map(({ name }) => name);
  const made = (next: readonly string[]): Answered =>
    withDecision({ ...match, mapping: withMadeId(table, mapping, next) }, "external_id", "as mapped");
  return (
    <details open={source === undefined || source.columns !== undefined}>
      <summary>Make an ID of several columns</summary>
      <p>
        Choose columns that together differ in each row. The same values mean the same item, so importing this file
        again creates nothing twice. If one of these values changes in the other system, the row becomes a new item.
      </p>
      <p class="buttons">
        <Button onClick={() => onAnswer(made(all))}>Use the whole row</Button>
      </p>
      <div class="question">
        {all.slice(0, OFFERED_COLUMNS).map((name) => (
          <Check
            key={name}
            checked={chosen.includes(name)}
            onChange={(checked) =>
              match.onAnswer(made(all.filter((each) => (each === name ? checked : chosen.includes(each)))))
            }
          >
            {name}
          </Check>
        ))}
      </div>
      {source?.columns && check.problem === undefined && (
        <p class="note">For example: {exampleOf(table, mapping, source)}</p>
      )}
    </details>
  );
}
