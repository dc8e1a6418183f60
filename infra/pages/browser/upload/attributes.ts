import { comparable, isReportColumn } from "../../../../lib/uploads/csv/header-names.ts";
import { ATTRIBUTE_PREFIX, itemTarget } from "../../../../lib/uploads/csv/target.ts";
import type { ValueKind } from "../../../../lib/uploads/mapping/cell-value.ts";
import { columnsIn } from "../../../../lib/uploads/mapping/check-mapping.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";

/** A column that is no field, and what becomes of it. */
export interface AttributeColumn {
  readonly column: string;
  /** The target of the mapping that it has or would have. */
  readonly target: string;
  readonly kind: ValueKind | "left out";
}

/** The columns that are custom attributes, or can be: those with a name of their own that no field is made of. */
export const attributeColumns = (names: readonly string[], mapping: Mapping): AttributeColumn[] => {
  const { fields = {}, others } = mapping;
  const attributes = Object.entries(fields).filter(
    ([target, { column }]) => target.startsWith(ATTRIBUTE_PREFIX) && column !== undefined,
  );
  const named = columnsIn(mapping);
  const counts = Map.groupBy(names, comparable);
  return names.flatMap((name): AttributeColumn[] => {
    const column = name.trim();
    const key = comparable(name);
    if (column === "" || counts.get(key)?.length !== 1 || isReportColumn(column)) return [];
    const [target, source] = attributes.find(([, each]) => comparable(each.column ?? "") === key) ?? [];
    if (target !== undefined && source !== undefined) return [{ column, target, kind: source.as ?? "text" }];
    const own = ATTRIBUTE_PREFIX + column;
    if (named.has(key) || itemTarget(own) === undefined || fields[own] !== undefined) return [];
    return [{ column, target: own, kind: others === "custom_attributes" ? "text" : "left out" }];
  });
};

/** The same mapping in which a column becomes something else. */
export const withKind = (
  mapping: Mapping,
  { column, target }: AttributeColumn,
  kind: AttributeColumn["kind"],
): Mapping => {
  const { [target]: source = { column }, ...fields } = mapping.fields ?? {};
  const { as: _, ...untyped } = source;
  const isTakenAnyway = mapping.others === "custom_attributes" && target === ATTRIBUTE_PREFIX + column;
  if (kind === "left out" || (kind === "text" && isTakenAnyway && Object.keys(untyped).length === 1)) {
    return { ...mapping, fields };
  }
  return { ...mapping, fields: { ...fields, [target]: kind === "text" ? untyped : { ...untyped, as: kind } } };
};
