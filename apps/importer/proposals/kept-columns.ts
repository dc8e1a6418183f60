import { comparable } from "../../../lib/uploads/csv/header-names.ts";
import { ATTRIBUTE_PREFIX, itemTarget } from "../../../lib/uploads/csv/target.ts";
import type { Mapping, Source } from "../../../lib/uploads/mapping/mapping.ts";

/** A column of a file by its place and its name in mappings. */
export interface NamedColumn {
  readonly index: number;
  readonly name: string;
  /** Whether its values are kept as numbers. */
  readonly isNumber?: boolean;
}

/** The most columns that a proposal names one by one, */
const NAMED_COLUMNS_MAX = 500;
/** and the characters of their names: far less than a mapping may have. */
const NAMED_CHARACTERS_MAX = 12_000;

/** The names that more than one column has, so that no source can say which is meant. */
export function repeatedNames(columns: readonly NamedColumn[]): ReadonlySet<string> {
  const groups = Map.groupBy(columns, ({ name }) => comparable(name));
  return new Set([...groups].filter(([, { length }]) => length > 1).map(([name]) => name));
}

/** Columns that a mapping can name one by one, as far as it may. */
function named(columns: readonly NamedColumn[]): NamedColumn[] {
  let characters = 0;
  return columns.slice(0, NAMED_COLUMNS_MAX).filter(({ name }) => {
    characters += name.length;
    return characters <= NAMED_CHARACTERS_MAX;
  });
}

/**
 * How the columns are kept that no field takes. `others` keeps them, unless it can't: values in a column without a header
 * would fail each row, and a name of two columns, or one that JSON can't have, would fail the file. Then all others are
 * named, and those are left out.
 * @param columns those that no field takes, with a name
 * @param fields what the others become
 */
export function keptColumns(
  columns: readonly NamedColumn[],
  fields: Readonly<Record<string, Source>>,
  hasNamelessValues: boolean,
): Pick<Mapping, "fields" | "others"> {
  const repeated = repeatedNames(columns);
  const plain = columns.filter(({ name }) => !repeated.has(comparable(name)) && itemTarget(ATTRIBUTE_PREFIX + name));
  const taken = new Set([...Object.keys(fields), ...columns.map(({ name }) => ATTRIBUTE_PREFIX + name)]);
  const renamed = (name: string): string => {
    let count = 2;
    while (taken.has(`${ATTRIBUTE_PREFIX}${name} (${count})`)) count++;
    taken.add(`${ATTRIBUTE_PREFIX}${name} (${count})`);
    return `${ATTRIBUTE_PREFIX}${name} (${count})`;
  };
  const sourceOf = ({ name, isNumber = false }: NamedColumn): readonly [string, Source] => {
    const target = ATTRIBUTE_PREFIX + name;
    const source = { column: name, ...(isNumber && { as: "number" as const }) };
    return [Object.hasOwn(fields, target) ? renamed(name) : target, source];
  };
  const canKeepAll = plain.length === columns.length && !(hasNamelessValues && columns.length <= NAMED_COLUMNS_MAX);
  // A column whose attribute a field sets already keeps its values under another name.
  const isOwn = ({ name, isNumber }: NamedColumn): boolean =>
    isNumber || Object.hasOwn(fields, ATTRIBUTE_PREFIX + name);
  const ones = named(canKeepAll ? plain.filter(isOwn) : plain);
  return {
    fields: Object.fromEntries(ones.map(sourceOf)),
    others: canKeepAll ? "custom_attributes" : "ignore",
  };
}
