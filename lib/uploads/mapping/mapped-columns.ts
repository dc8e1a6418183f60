import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { describeProblems, listed, type Problem, type ProblemCode, problemIf } from "../../errors.ts";
import { COMMA, DELIMITERS, otherDelimiter } from "../csv/delimiter.ts";
import { comparable, isReportColumn, numberedNames } from "../csv/header-names.ts";
import { InvalidFileError } from "../csv/invalid-file-error.ts";
import { createComparison } from "../csv/cells.ts";
import { type CellSource, RowReader, type FieldSource } from "../csv/row-reader.ts";
import { isClearable, type Target } from "../csv/target.ts";
import { CellError, quoted } from "../../cell-value.ts";
import { columnsIn, columnsOf, type SingleSource, singlesOf, targetsOf } from "./check-mapping.ts";
import { type Aliases, createAliases, createConversion } from "./conversion.ts";
import { type Mapping, mappingPath, type Source } from "./mapping.ts";
import { nearestTo } from "../../nearest.ts";

/** Missing columns for which the nearest name is searched at most, */
const NEAREST_MAX = 20;
/** and characters of headers that are compared for them, which takes some 50 ms. */
const NEAREST_MAX_CHARACTERS = 200_000;

/** The indexes of a header's columns by their names as `comparable` makes them. */
function indexesOf(names: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const indexes = new Map<string, number[]>();
  for (const [index, name] of names.entries()) {
    const key = comparable(name);
    const sameName = indexes.get(key);
    if (sameName) sameName.push(index);
    else indexes.set(key, [index]);
  }
  return indexes;
}

/** The indexes of the columns that no source names, except those of a report of failed rows. */
function unnamedIn(mapping: Mapping, names: readonly string[]): number[] {
  const named = columnsIn(mapping);
  return [...names.keys()].filter((index) => !named.has(comparable(names[index]!)) && !isReportColumn(names[index]!));
}

type ColumnProblem = Pick<Problem, "code" | "message">;

function problemsOfSources(mapping: Mapping, names: readonly string[]): Problem[] {
  const indexes = indexesOf(names);
  const characters = names.reduce((sum, name) => sum + name.length, 1);
  const nearestMax = Math.min(NEAREST_MAX, Math.ceil(NEAREST_MAX_CHARACTERS / characters));
  let missing = 0;
  const findProblem = (column: string): ColumnProblem | undefined => {
    const found = indexes.get(comparable(column)) ?? [];
    if (found.length === 1) return undefined;
    if (found.length > 1) {
      const numbers = listed(found.map((index) => String(index + 1)));
      return { code: "repeated", message: `the column ${quoted(column)} occurs more than once: ${numbers}` };
    }
    const nearest = ++missing <= nearestMax ? nearestTo(column, names) : undefined;
    const hint = nearest === undefined ? "" : `; the nearest is ${quoted(nearest.trim())}`;
    return { code: "unknown", message: `there is no column ${quoted(column)}${hint}` };
  };
  const problems = new Map<string, ColumnProblem | undefined>();
  const problemOf = (column: string): ColumnProblem | undefined => {
    if (!problems.has(column)) problems.set(column, findProblem(column));
    return problems.get(column);
  };
  return targetsOf(mapping)
    .flatMap(singlesOf)
    .flatMap(({ source, path }) => {
      const isSingle = source.column !== undefined;
      return columnsOf(source).flatMap((column, index) => {
        const problem = problemOf(column);
        return problem === undefined
          ? []
          : [{ path: [...path, ...(isSingle ? ["column"] : ["columns", index])], ...problem }];
      });
    });
}

function problemsOfOthers(mapping: Mapping, names: readonly string[]): Problem[] {
  const { others = "refuse" } = mapping;
  // A column without a name is a problem only in rows that have a value there.
  const unnamed = unnamedIn(mapping, names).filter((index) => others !== "refuse" || names[index]!.trim() !== "");
  if (others === "ignore" || unnamed.length === 0) return [];
  const shown = (indexes: readonly number[]): string => listed(indexes.map((index) => quoted(names[index]!.trim())));
  if (others === "refuse") {
    const advice = "use custom_attributes to keep them or ignore to leave them out";
    const message = `columns not mapped: ${shown(unnamed)}; ${advice}`;
    return [{ path: ["others"], code: "unknown", message }];
  }
  const indexes = indexesOf(names);
  const own = new Set(targetsOf(mapping).flatMap(({ target }) => (target.kind === "attribute" ? [target.name] : [])));
  const repeated = unnamed.filter((index) => {
    const name = comparable(names[index]!);
    return name !== "" && (indexes.get(name)?.length ?? 0) > 1;
  });
  const taken = unnamed.filter((index) => own.has(names[index]!.trim()));
  const forbidden = unnamed.filter((index) => names[index]!.trim() === "__proto__");
  const problemsWith = (columns: readonly number[], code: ProblemCode, message: string): Problem[] =>
    problemIf(columns.length > 0, ["others"], code, message);
  return [
    ...problemsWith(repeated, "repeated", `the header has ${shown(repeated)} more than once`),
    ...problemsWith(taken, "taken", `fields already sets the custom attribute ${shown(taken)}`),
    ...problemsWith(forbidden, "invalid_value", `custom attributes can't be named ${shown(forbidden)}`),
  ];
}

/** What is wrong with a mapping for a file with this header. */
function problemsOfColumns(mapping: Mapping, names: readonly string[]): Problem[] {
  const problems = [...problemsOfSources(mapping, names), ...problemsOfOthers(mapping, names)];
  const other = otherDelimiter(names, mapping.delimiter ?? COMMA);
  if (problems.length === 0 || other === undefined) return problems;
  const message = `must be ${JSON.stringify(other)}: the file's columns are separated by ${DELIMITERS[other]}`;
  return [{ path: ["delimiter"], code: "invalid_value", message }];
}

/**
 * Checks that a mapping fits a file.
 * @param names cells of the header
 * @throws InvalidFileError naming everything that doesn't fit
 */
export function assertColumns(mapping: Mapping, names: readonly string[]): void {
  const problems = problemsOfColumns(mapping, numberedNames(names));
  if (problems.length === 0) return;
  const located = problems.map(mappingPath);
  throw new InvalidFileError(describeProblems(located), located);
}

/** Compares the cells of a file with the words of its mapping. */
type Comparison = ReturnType<typeof createComparison>;

function comparisonOf(mapping: Mapping): Comparison {
  const singles = targetsOf(mapping).flatMap(singlesOf);
  return createComparison(
    mapping.empty ?? [],
    singles.flatMap(({ source }) => Object.keys(source.values ?? {})),
  );
}

/** The header of a source's columns in a report, as it is in the file. */
function headerOf(indexes: readonly number[], names: readonly string[]): string {
  return indexes.map((index) => names[index]!.trim()).join(", ");
}

/** The text of a column's cell. */
function textOfColumn(aliases: Aliases, index: number, compare: Comparison): CellSource["textOf"] {
  return (cells) => {
    const word = compare(cells, index);
    return word === "" ? "" : (aliases.find(word) ?? cells.values[index] ?? "");
  };
}

/** The text of several columns' cells. They are joined only if the text can have an alias or is the result. */
function textOfColumns(
  aliases: Aliases,
  { indexes, join }: { readonly indexes: readonly number[]; readonly join: string },
  compare: Comparison,
): CellSource["textOf"] {
  return (cells) => {
    const filled = indexes.filter((index) => compare(cells, index) !== "");
    if (filled.length === 0) return "";
    const lengthOf = (textOf: (index: number) => string | null): number =>
      filled.reduce((sum, index) => sum + (textOf(index)?.length ?? Infinity), join.length * (filled.length - 1));
    const isTooLong = lengthOf((index) => compare(cells, index)) > aliases.longest;
    const other = isTooLong ? aliases.find(null) : undefined;
    if (other !== undefined) return other;
    if (!cells.takeCharacters(lengthOf((index) => cells.values[index] ?? ""))) return "";
    const text = filled.map((index) => cells.values[index]).join(join);
    return (isTooLong ? undefined : aliases.find(comparable(text))) ?? text;
  };
}

/** Characters of a digest: 128 bits tell different rows apart. */
const DIGEST_CHARACTERS = 32;

/**
 * A digest of the names and values of columns. A value in another column gives another digest. Columns without a value don't
 * count, nor does the order of columns, which may differ in the next export. A library makes it because the import page makes
 * it too, and crypto.subtle is asynchronous there.
 */
function digestOfColumns(
  names: readonly string[],
  indexes: readonly number[],
  compare: Comparison,
): CellSource["textOf"] {
  const ordered = indexes
    .map((index) => [comparable(names[index]!), index] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return (cells) => {
    const filled = ordered.filter(([, index]) => compare(cells, index) !== "");
    const characters = filled.reduce((sum, [name, index]) => sum + name.length + cells.values[index]!.length, 0);
    if (filled.length === 0 || !cells.takeCharacters(characters)) return "";
    const content = JSON.stringify(filled.map(([name, index]) => [name, cells.values[index]!.trim()]));
    return bytesToHex(sha256(utf8ToBytes(content))).slice(0, DIGEST_CHARACTERS);
  };
}

/** The text of a source: trimmed if it says so, with its prefix if it has one. */
function createTextOf(
  names: readonly string[],
  source: Source,
  indexes: readonly number[],
  compare: Comparison,
): CellSource["textOf"] {
  const { prefix = "", digest = false, trim = false } = source;
  const textOf = digest ? digestOfColumns(names, indexes, compare) : createBareTextOf(source, indexes, compare);
  if (prefix === "" && !trim) return textOf;
  return (row) => {
    const text = trim ? textOf(row).trim() : textOf(row);
    return text === "" ? "" : prefix + text;
  };
}

function createBareTextOf(source: Source, indexes: readonly number[], compare: Comparison): CellSource["textOf"] {
  const { value, join = " " } = source;
  const aliases = createAliases(source);
  if (value !== undefined) {
    const text = aliases.find(comparable(value)) ?? value;
    return () => text;
  }
  const [only] = indexes;
  return indexes.length === 1 && only !== undefined
    ? textOfColumn(aliases, only, compare)
    : textOfColumns(aliases, { indexes, join }, compare);
}

/** Rejects values in a column without a name. They share one error, because a row may have thousands of them. */
function noName(index: number, row: number) {
  let error: CellError | undefined;
  return (): never => {
    throw (error ??= new CellError(`column ${index + 1} has no header; add a name in row ${row}`));
  };
}

/**
 * The reader of a file with a mapping.
 * @param mapping one without problems of its own (`problemsOfMapping`)
 * @param header its cells
 * @throws InvalidFileError naming everything in the mapping that doesn't fit the header
 */
export function mappedReader(mapping: Mapping, header: readonly string[]): RowReader {
  assertColumns(mapping, header);
  const names = numberedNames(header);
  const indexes = indexesOf(names);
  const compare = comparisonOf(mapping);

  const sourceOf = (target: Target, { source }: SingleSource): CellSource => {
    const own = columnsOf(source).flatMap((column) => indexes.get(comparable(column)) ?? []);
    return {
      column: headerOf(own, names),
      textOf: createTextOf(names, source, own, compare),
      valueOf: createConversion(target, source, mapping),
    };
  };
  const clears = (target: Target, blank = mapping.blank): boolean => blank === "clear" && isClearable(target);
  const fieldSources = targetsOf(mapping).map(({ target, ...given }): FieldSource => ({
    target,
    clears: clears(target, given.source.blank),
    sources: singlesOf(given).map((single) => sourceOf(target, single)),
  }));
  const others = (mapping.others === "ignore" ? [] : unnamedIn(mapping, names)).map((index): FieldSource => {
    const name = names[index]!.trim();
    const textOf = createTextOf(names, {}, [index], compare);
    const valueOf = name === "" ? noName(index, mapping.header_row ?? 1) : (text: string) => text;
    const target: Target = { kind: "attribute", name };
    return { target, clears: name !== "" && clears(target), sources: [{ column: name, textOf, valueOf }] };
  });
  return new RowReader({
    width: names.length,
    fieldSources: [...fieldSources, ...others],
    isEmptyAt: (cells, index) => compare(cells, index) === "",
    isMapped: true,
  });
}
