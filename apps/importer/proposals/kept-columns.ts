import { comparable } from "@work-items/lib/uploads/csv/header-names.ts";
import { ATTRIBUTE_PREFIX, itemTarget } from "@work-items/lib/uploads/csv/target.ts";
import type { Mapping, Source } from "@work-items/lib/uploads/mapping/mapping.ts";

export interface NamedColumn {
  readonly index: number;
  /** Its name in mappings. */
  readonly name: string;
  /** Whether its values are kept as numbers. */
  readonly isNumber?: boolean;
  /** Whether it sets a field too. */
  readonly isUsed?: boolean;
}

/**
 * Whether a column is kept although it sets a field, since that can't hold all that it says: a status becomes one of four, and
 * of several dates one counts. What decides is the column alone, so that no later file leaves an old text beside a new status.
 * @param isElse whether it only counts where others are empty
 */
export function isKeptBeside(target: string, column: string, isElse: boolean): boolean {
  return isElse || (target === "status" && column !== target);
}

/** Limit of the columns that a proposal names one by one. */
const NAMED_COLUMNS_MAX = 500;
/** Limit of the characters of their names, far less than a mapping may have. */
const NAMED_CHARACTERS_MAX = 12_000;

/** The names of several columns, which a source can't tell apart. */
export function repeatedNames(columns: readonly NamedColumn[]): ReadonlySet<string> {
  const groups = Map.groupBy(columns, ({ name }) => comparable(name));
  return new Set([...groups].filter(([, { length }]) => length > 1).map(([name]) => name));
}

/** The first columns, within the limits of what a proposal names. */
function withinLimits(columns: readonly NamedColumn[]): NamedColumn[] {
  let characters = 0;
  return columns.slice(0, NAMED_COLUMNS_MAX).filter(({ name }) => {
    characters += name.length;
    return characters <= NAMED_CHARACTERS_MAX;
  });
}

/**
 * How columns are kept that no field holds. `others` keeps them if it can and no field uses them. But values in a column
 * without a header would fail each row, and a repeated or impossible attribute name would fail the file. Then the mapping names
 * all columns except those.
 * @param columns named columns that no field holds
 * @param fields the sources of the fields
 */
export function keptColumns(
  columns: readonly NamedColumn[],
  fields: Readonly<Record<string, Source>>,
  hasNamelessValues: boolean,
): Pick<Mapping, "fields" | "others"> {
  const repeated = repeatedNames(columns);
  const plain = columns.filter(({ name }) => !repeated.has(comparable(name)) && itemTarget(ATTRIBUTE_PREFIX + name));
  const taken = new Set([...Object.keys(fields), ...columns.map(({ name }) => ATTRIBUTE_PREFIX + name)]);
  const freeName = (target: string, number = 2): string =>
    taken.has(`${target} (${number})`) ? freeName(target, number + 1) : `${target} (${number})`;
  const sourceOf = ({ name, isNumber = false }: NamedColumn): readonly [string, Source] => {
    const target = ATTRIBUTE_PREFIX + name;
    const source = { column: name, ...(isNumber && { as: "number" as const }) };
    return [Object.hasOwn(fields, target) ? freeName(target) : target, source];
  };
  const canKeepAll = plain.length === columns.length && !(hasNamelessValues && columns.length <= NAMED_COLUMNS_MAX);
  // If a field already sets the attribute of a column, the column gets another one.
  const isOwn = ({ name, isNumber, isUsed }: NamedColumn): boolean =>
    isNumber || isUsed || Object.hasOwn(fields, ATTRIBUTE_PREFIX + name);
  const ones = withinLimits(canKeepAll ? plain.filter(isOwn) : plain);
  return {
    fields: Object.fromEntries(ones.map(sourceOf)),
    others: canKeepAll ? "custom_attributes" : "ignore",
  };
}
