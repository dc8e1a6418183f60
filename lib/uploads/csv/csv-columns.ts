import { quoted } from "../../cell-value.ts";
import { listed } from "../../errors.ts";
import { type CellSource, RowReader, type FieldSource } from "./row-reader.ts";
import { COMMA, DELIMITERS, otherDelimiter } from "./delimiter.ts";
import { comparable, isReportColumn, refuseHeader } from "./header-names.ts";
import { ATTRIBUTE_PREFIX, ITEM_FIELD_NAMES, itemTarget, readCell, type Target } from "./target.ts";

/** The target with a column's name, ignoring case and outer spaces. Names of attributes keep their case. */
function targetOfColumn(header: string): Target | undefined {
  const name = comparable(header);
  return itemTarget(
    name.startsWith(ATTRIBUTE_PREFIX) ? ATTRIBUTE_PREFIX + header.trim().slice(ATTRIBUTE_PREFIX.length) : name,
  );
}

/** The name of a column's target, such as `custom_attributes.team`; undefined if it has none. */
export function nameOfColumn(header: string): string | undefined {
  const target = targetOfColumn(header);
  return target && (target.kind === "attribute" ? ATTRIBUTE_PREFIX + target.name : target.name);
}

function sourceOf(target: Target, column: string, index: number): CellSource {
  return {
    column,
    textOf: ({ values }) => values[index] ?? "",
    valueOf: (cell) => readCell(target, cell),
  };
}

/**
 * The targets of the columns of a file without mapping; undefined for columns of a report.
 * @param names cells of the header
 * @throws InvalidFileError naming every unknown and every repeated column, or another problem of the header
 */
export function targetsOfColumns(names: readonly string[]): (Target | undefined)[] {
  const delimiter = otherDelimiter(names, COMMA);
  if (delimiter !== undefined) refuseHeader(`columns must be separated by commas, not ${DELIMITERS[delimiter]}`);

  const columns = names.map((name) => (isReportColumn(name) ? undefined : targetOfColumn(name)));
  const unknown = names.filter((name, index) => columns[index] === undefined && !isReportColumn(name));
  const keys = columns.map((target, index) => (target ? `${target.kind} ${target.name}` : comparable(names[index]!)));
  const found = new Set<string>();
  const repeated = new Set<string>();
  for (const [index, key] of keys.entries()) {
    if (found.has(key)) repeated.add(names[index]!);
    found.add(key);
  }
  const problems = [
    ...(unknown.length > 0 ? [`unknown column ${listed(unknown.map(quoted))}`] : []),
    ...(repeated.size > 0 ? [`repeated column ${listed([...repeated].map(quoted))}`] : []),
    ...(keys.includes("field external_id") ? [] : ["column external_id is missing"]),
  ];
  if (problems.length > 0) {
    refuseHeader(
      `${problems.join("; ")} (columns are ${ITEM_FIELD_NAMES.join(", ")} and ${ATTRIBUTE_PREFIX}<name>; send a mapping to use others)`,
    );
  }
  return columns;
}

/**
 * The reader of a file without mapping.
 * @param names cells of the header
 * @throws InvalidFileError
 */
export function columnReader(names: readonly string[]): RowReader {
  const fieldSources = targetsOfColumns(names).flatMap((target, index): FieldSource[] =>
    target ? [{ target, sources: [sourceOf(target, names[index]!.trim(), index)] }] : [],
  );
  return new RowReader({
    width: names.length,
    fieldSources,
    isEmptyAt: ({ values }, index) => values[index] === "",
    isMapped: false,
  });
}
