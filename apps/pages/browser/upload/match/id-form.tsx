import { idColumn, noteOfCleaning } from "@work-items/importer/ids/clean-ids.ts";
import { SEPARATORS } from "@work-items/importer/ids/id-forms.ts";
import { useMemo, useState } from "preact/hooks";
import type { Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import type { Answered } from "../file/answers.ts";
import { rolesOf, withMadeId } from "../file/column-roles.ts";
import { Button, Check } from "../parts/parts.tsx";
import { countOf } from "../parts/shown.ts";
import { changeSingles, withKey } from "../file/sources.ts";
import { asSentence } from "../file/table-file.ts";
import { withDecision } from "../file/target-choices.ts";
import type { Match } from "../file/use-import.ts";
import type { FormProps } from "./match-line.ts";

/** Further columns can only be used in the mapping as JSON. */
const OFFERED_COLUMNS = 60;

/** Makes an ID of several columns if none is an ID. */
export function MadeId({ match, onNext }: FormProps) {
  const { table, mapping } = match;
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
        <Button onClick={() => onNext(made(all))}>Use the whole row</Button>
      </p>
      <div class="checks">
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
    </details>
  );
}

/** Offers to remove outer spaces of the IDs, if some have any. */
function SpacesOffer({ match: { mapping, ids, onChange } }: { readonly match: Match }) {
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

/** What a column's IDs have around or in them; undefined if nothing. */
function cleaningOf({ table: { cleaned, names }, mapping, ids }: Match) {
  const column = idColumn(mapping, names);
  const { wrapping = SEPARATORS, example } = cleaned ?? ids.findings ?? {};
  return column === -1 || example === undefined ? undefined : { column, wrapping, example };
}

/** Says what isn't imported of the IDs. */
export function CleanedIdsNote({ match }: { readonly match: Match }) {
  const cleaning = cleaningOf(match);
  if (cleaning === undefined || cleaning.wrapping === SEPARATORS) return null;
  return <p class="unchecked">{asSentence(noteOfCleaning(cleaning, match.table.names[cleaning.column] ?? ""))}</p>;
}

/** Offers to leave out the separators of thousands of the IDs, if they have any. */
function SeparatorsOffer({ match }: { readonly match: Match }) {
  const { table, isReading, onClean } = match;
  // Shown while the file is read with it.
  const [choice, setChoice] = useState(false);
  const cleaning = cleaningOf(match);
  if (cleaning?.wrapping !== SEPARATORS) return null;
  const { wrapping, example } = cleaning;
  return (
    <Check
      checked={isReading ? choice : table.cleaned !== undefined}
      onChange={(cleans) => {
        setChoice(cleans);
        onClean(cleans ? cleaning : undefined);
      }}
    >
      Remove the {wrapping.name} from the ID: {example} becomes {wrapping.inside(example)}
    </Check>
  );
}

/** What can be left out of the IDs. */
export function IdOffers({ match }: { readonly match: Match }) {
  return (
    <>
      <SpacesOffer match={match} />
      <SeparatorsOffer match={match} />
    </>
  );
}
