import { distinguishingColumns } from "@work-items/importer/proposals/made-ids.ts";
import { useMemo } from "preact/hooks";
import type { Mapping, Source } from "../../../../lib/uploads/mapping/mapping.ts";
import { mappedReader } from "../../../../lib/uploads/mapping/mapped-columns.ts";
import { rolesOf, withMadeId } from "./column-roles.ts";
import { Button, Check } from "./parts.tsx";
import type { TableFile } from "./table-file.ts";
import type { Match } from "./use-import.ts";

/** Further columns can only be used in the mapping as JSON. */
const OFFERED_COLUMNS = 60;

function exampleOf({ names, rows }: TableFile, { empty }: Mapping, source: Source): string {
  const own = { fields: { external_id: source }, others: "ignore", ...(empty && { empty }) } as const;
  return rows[0] ? mappedReader(own, names).externalIdOf(rows[0]) : "";
}

/** Makes an ID of several columns if none is an ID. */
export function IdForm({ match: { table, mapping, check, onChange } }: { readonly match: Match }) {
  const { names, rows } = table;
  const columns = useMemo(() => rolesOf(names, {}).filter(({ name }) => name !== ""), [names]);
  const indexes = columns.map(({ index }) => index);
  const found = useMemo(() => distinguishingColumns(rows, indexes), [rows, columns]);
  const source = mapping.fields?.["external_id"];
  if (source !== undefined && source.columns === undefined) return null;
  const chosen = source?.columns ?? [];
  const all = columns.map(({ name }) => name);
  const proposed = columns.filter(({ index }) => found?.includes(index)).map(({ name }) => name);
  const choose = (next: readonly string[]): void => onChange(withMadeId(table, mapping, next));
  return (
    <section class="warning" aria-labelledby="made-id">
      <h3 id="made-id">{source ? "The ID is made of columns" : "We couldn’t tell which column is the ID"}</h3>
      <p>
        Choose a column below as “ID”, or make an ID of columns that together differ in each row. The same values mean
        the same item, so importing this file again creates nothing twice. If one of these values changes in the other
        system, the row becomes a new item.
      </p>
      <p class="buttons">
        {proposed.length > 0 && (
          <Button kind={source ? undefined : "main"} onClick={() => choose(proposed)}>
            Use {proposed.join(" + ")}
          </Button>
        )}
        <Button onClick={() => choose(all)}>Use the whole row</Button>
      </p>
      <details>
        <summary>Choose the columns</summary>
        <div class="question">
          {all.slice(0, OFFERED_COLUMNS).map((name) => (
            <Check
              key={name}
              checked={chosen.includes(name)}
              onChange={(checked) => choose(all.filter((each) => (each === name ? checked : chosen.includes(each))))}
            >
              {name}
            </Check>
          ))}
        </div>
      </details>
      {source && check.problem === undefined && <p class="note">For example: {exampleOf(table, mapping, source)}</p>}
    </section>
  );
}
