import { describeProblems, type Problem, type ProblemCode, problemIf } from "../../problem.ts";
import { COMMA, DELIMITERS, otherDelimiter } from "../csv/delimiter.ts";
import { comparable, isReportColumn, shownHeader } from "../csv/header-names.ts";
import { InvalidFileError } from "../csv/invalid-file-error.ts";
import { type CellSource, createRowReader, type RowReader, type Step } from "../csv/row-reader.ts";
import type { Target } from "../csv/target.ts";
import { CellError } from "./cell-error.ts";
import { columnsIn, columnsOf, type SingleSource, singlesOf, targetsOf } from "./check-mapping.ts";
import { createAliases, createConversion } from "./conversion.ts";
import { type Mapping, mappingPath, type Source } from "./mapping.ts";
import { nearestTo } from "../../nearest.ts";

/** Missing columns for which the nearest is looked for. */
const NEAREST_MAX = 20;

/** The columns of a header by their names without case and outer spaces. */
const indexesOf = (names: readonly string[]): ReadonlyMap<string, readonly number[]> => {
  const indexes = new Map<string, number[]>();
  for (const [index, name] of names.entries()) {
    const key = comparable(name);
    const known = indexes.get(key);
    if (known) known.push(index);
    else indexes.set(key, [index]);
  }
  return indexes;
};

/** The indexes of the columns that no source names, without those of a report of failed rows. */
const unnamedIn = (mapping: Mapping, names: readonly string[]): number[] => {
  const named = columnsIn(mapping);
  return [...names.keys()].filter((index) => !named.has(comparable(names[index]!)) && !isReportColumn(names[index]!));
};

const problemsOfSources = (mapping: Mapping, names: readonly string[]): Problem[] => {
  const indexes = indexesOf(names);
  let missing = 0;
  const problemOf = (column: string): Pick<Problem, "code" | "message"> | undefined => {
    const found = indexes.get(comparable(column)) ?? [];
    if (found.length === 1) return undefined;
    if (found.length > 1) {
      return {
        code: "repeated",
        message: `the column ${shownHeader(column)} stands more than once: ${found.map((index) => index + 1).join(", ")}`,
      };
    }
    const nearest = ++missing <= NEAREST_MAX ? nearestTo(column, names) : undefined;
    const hint = nearest === undefined ? "" : `; the nearest is ${shownHeader(nearest.trim())}`;
    return { code: "unknown", message: `there is no column ${shownHeader(column)}${hint}` };
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
};

const problemsOfOthers = (mapping: Mapping, names: readonly string[]): Problem[] => {
  const { others = "refuse" } = mapping;
  // A column without a name is one only if a row has something in it.
  const unnamed = unnamedIn(mapping, names).filter((index) => others !== "refuse" || names[index]!.trim() !== "");
  if (others === "ignore" || unnamed.length === 0) return [];
  const shown = (indexes: readonly number[]): string =>
    indexes.map((index) => shownHeader(names[index]!.trim())).join(", ");
  if (others === "refuse") {
    const message = `no source names the column ${shown(unnamed)}; custom_attributes takes it, ignore leaves it out`;
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
    ...problemsWith(repeated, "repeated", `the header holds ${shown(repeated)} more than once`),
    ...problemsWith(taken, "taken", `fields sets the custom attribute ${shown(taken)} already`),
    ...problemsWith(forbidden, "invalid_value", `${shown(forbidden)} can be no custom attribute`),
  ];
};

/** What is wrong with a mapping for a file with this header. */
const problemsOfColumns = (mapping: Mapping, names: readonly string[]): Problem[] => {
  const problems = [...problemsOfSources(mapping, names), ...problemsOfOthers(mapping, names)];
  const other = otherDelimiter(names, mapping.delimiter ?? COMMA);
  if (problems.length === 0 || other === undefined) return problems;
  const message = `must be ${JSON.stringify(other)}: the file has ${DELIMITERS[other]} between its columns`;
  return [{ path: ["delimiter"], code: "invalid_value", message }];
};

/**
 * Checks that a mapping fits a file.
 * @param names cells of the header
 * @throws InvalidFileError naming everything in which it does not
 */
export const assertColumns = (mapping: Mapping, names: readonly string[]): void => {
  const problems = problemsOfColumns(mapping, names);
  if (problems.length === 0) return;
  const placed = problems.map(mappingPath);
  throw new InvalidFileError(describeProblems(placed), placed);
};

/** The function that says which cells are empty. Those that the mapping lists are compared as headers are. */
const createIsEmpty = ({ empty = [] }: Mapping): ((cell: string) => boolean) => {
  const listed = new Set(["", ...empty.map(comparable)]);
  return (cell) => listed.has(comparable(cell));
};

/** The header of a source's columns in a report, as it is in the file. */
const headerOf = (indexes: readonly number[], names: readonly string[]): string =>
  indexes.map((index) => names[index]!.trim()).join(", ");

const createTextOf = (source: Source, indexes: readonly number[], isEmpty: (cell: string) => boolean) => {
  const { value, join = " " } = source;
  const aliasOf = createAliases(source);
  if (value !== undefined) {
    const alias = aliasOf(value);
    return () => alias;
  }
  const [only, second] = indexes;
  if (only !== undefined && second === undefined) {
    return (cells: readonly string[]) => {
      const cell = cells[only] ?? "";
      return isEmpty(cell) ? "" : aliasOf(cell);
    };
  }
  return (cells: readonly string[]) => {
    const filled = indexes.map((index) => cells[index] ?? "").filter((cell) => !isEmpty(cell));
    return filled.length === 0 ? "" : aliasOf(filled.join(join));
  };
};

const noName = (index: number) => (): never => {
  throw new CellError(`column ${index + 1} has no name in row 1, which must be the header`);
};

/**
 * The reader of a file with a mapping.
 * @param mapping one without problems of its own (`problemsOfMapping`)
 * @param names cells of the header
 * @throws InvalidFileError naming everything in which the mapping does not fit the header
 */
export const mappedReader = (mapping: Mapping, names: readonly string[]): RowReader => {
  assertColumns(mapping, names);
  const indexes = indexesOf(names);
  const isEmptyCell = createIsEmpty(mapping);

  const sourceOf = (target: Target, { source }: SingleSource): CellSource => {
    const own = columnsOf(source).flatMap((column) => indexes.get(comparable(column)) ?? []);
    return {
      column: headerOf(own, names),
      width: Math.max(0, ...own.map((index) => index + 1)),
      textOf: createTextOf(source, own, isEmptyCell),
      valueOf: createConversion(target, source, mapping),
    };
  };
  const steps = targetsOf(mapping).map(({ target, ...place }): Step => ({
    target,
    sources: singlesOf(place).map((single) => sourceOf(target, single)),
  }));
  const others = (mapping.others === "ignore" ? [] : unnamedIn(mapping, names)).map((index): Step => {
    const name = names[index]!.trim();
    const textOf = createTextOf({}, [index], isEmptyCell);
    const valueOf = name === "" ? noName(index) : (text: string) => text;
    return { target: { kind: "attribute", name }, sources: [{ column: name, width: index + 1, textOf, valueOf }] };
  });
  return createRowReader({ width: names.length, steps: [...steps, ...others], isEmptyCell, isMapped: true });
};
