import { distinguishingColumns } from "@work-items/importer/proposals/made-ids.ts";
import { useMemo } from "preact/hooks";
import { comparable } from "../../../../lib/uploads/csv/header-names.ts";
import { ATTRIBUTE_PREFIX } from "../../../../lib/uploads/csv/target.ts";
import type { Mapping, Source } from "../../../../lib/uploads/mapping/mapping.ts";
import { KEPT, rolesOf } from "./column-roles.ts";
import type { TableFile } from "./table-file.ts";

/** More columns are left to the mapping as JSON. */
const OFFERED_COLUMNS = 60;

/** The mapping whose IDs are made of columns. Those that were kept stay custom attributes. */
function withMadeId(header: readonly string[], mapping: Mapping, columns: readonly string[]): Mapping {
  const { external_id: _, ...others } = mapping.fields ?? {};
  if (columns.length === 0) return { ...mapping, fields: others };
  const used = new Set(columns.map(comparable));
  const kept = rolesOf(header, mapping).filter(({ role, name }) => role === KEPT && used.has(comparable(name)));
  const attributes = kept.map(({ name, source }): [string, Source] => [
    ATTRIBUTE_PREFIX + name,
    source ?? { column: name },
  ]);
  const id = { columns: [...columns], join: "-" };
  return { ...mapping, fields: { external_id: id, ...others, ...Object.fromEntries(attributes) } };
}

/** Makes an ID of columns, where none is one. */
export function IdForm({
  table,
  mapping,
  onChange,
}: {
  readonly table: TableFile;
  readonly mapping: Mapping;
  readonly onChange: (mapping: Mapping) => void;
}) {
  const { names, rows } = table;
  const columns = useMemo(() => rolesOf(names, {}).filter(({ name }) => name !== ""), [names]);
  const found = useMemo(
    () =>
      distinguishingColumns(
        rows,
        columns.map(({ index }) => index),
      ),
    [rows, columns],
  );
  const source = mapping.fields?.["external_id"];
  if (source !== undefined && source.columns === undefined) return null;
  const chosen = source?.columns ?? [];
  const all = columns.map(({ name }) => name);
  const proposed = columns.filter(({ index }) => found?.includes(index)).map(({ name }) => name);
  const choose = (next: readonly string[]): void => onChange(withMadeId(names, mapping, next));
  const example = columns.filter(({ name }) => chosen.includes(name)).map(({ index }) => rows[0]?.[index]?.trim());
  return (
    <section class="warning" aria-labelledby="made-id">
      <h3 id="made-id">{source ? "The ID is made of columns" : "No column identifies the items"}</h3>
      <p>
        Choose a column below as “Unique ID”, or make an ID of columns that together differ in each row. The same values
        again are the same item: importing this file again creates nothing twice. If one of these values changes in the
        other system, the row becomes a new item.
      </p>
      <p class="buttons">
        {proposed.length > 0 && (
          <button type="button" class={source ? undefined : "main"} onClick={() => choose(proposed)}>
            Use {proposed.join(" + ")}
          </button>
        )}
        <button type="button" onClick={() => choose(all)}>
          Use the whole row
        </button>
      </p>
      <details>
        <summary>Choose the columns</summary>
        <div class="question">
          {all.slice(0, OFFERED_COLUMNS).map((name) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={chosen.includes(name)}
                onChange={({ currentTarget }) =>
                  choose(all.filter((each) => (each === name ? currentTarget.checked : chosen.includes(each))))
                }
              />
              {name}
            </label>
          ))}
        </div>
      </details>
      {chosen.length > 0 && <p class="note">For example: {example.filter(Boolean).join("-")}</p>}
    </section>
  );
}
