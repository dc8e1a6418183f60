import { describeProblems, type Problem, type ProblemCode } from "../../problem.ts";
import { problemsOf } from "../../schema-problems.ts";
import { type WorkItemInput, workItemInputSchema } from "../../work-items/work-item.ts";
import { ROW_MAX_CHARACTERS } from "./csv-row.ts";
import type { Target } from "./target.ts";

/** One way to get a value from a row. */
export interface CellSource {
  /** Header of its column, or of several; empty if it has none. */
  readonly column: string;
  /** How many of the row's first cells it needs. */
  readonly width: number;
  /** The text of the row's cells; empty if the row has none. Cells may be missing. */
  readonly textOf: (cells: readonly string[]) => string;
  /** Converts the text, which is not empty. @throws Error that says what it must be */
  readonly valueOf: (text: string) => unknown;
}

/** A target and its sources, of which the first that is not empty counts. */
export interface Step {
  readonly target: Target;
  readonly sources: readonly CellSource[];
}

/** Why a row fails. */
export interface RowError {
  /** Names all problems. */
  readonly message: string;
  /** Header of the first problem's column; empty if it has none. */
  readonly column: string;
  /** The text of that column. */
  readonly value: string;
  /** What the first problem is, for programs. */
  readonly code: ProblemCode;
}

/** The work item input in a row, or the reason why the row fails. */
export type RowReading = { readonly input: WorkItemInput } | { readonly error: RowError };

/** Reads the rows of one file. Cells are given without their quotes. */
export interface RowReader {
  /** How many of the row's first cells its external_id needs. */
  readonly idWidth: number;
  /** The row's external_id; empty if it has none. */
  readonly externalIdOf: (cells: readonly string[]) => string;
  /** Whether all cells are empty, so that the row is left out. */
  readonly isEmpty: (cells: readonly string[]) => boolean;
  readonly read: (cells: readonly string[]) => RowReading;
}

/** What the reader of a file is made of. */
export interface RowReaderOptions {
  /** Number of the header's cells. */
  readonly width: number;
  readonly steps: readonly Step[];
  readonly isEmptyCell: (cell: string) => boolean;
  /**
   * Whether the file is another system's: messages name the columns, which are not called like the fields, and rows may
   * end with more delimiters than the header.
   */
  readonly isMapped: boolean;
}

/** The error of a row as a whole. */
export const errorOfRow = (code: ProblemCode, message: string): RowError => ({ message, column: "", value: "", code });

/** Problems of events are called like the mapping's targets: a row has one event. */
const pathOf = ([first, ...rest]: Problem["path"]): Problem["path"] =>
  first === "events" ? ["event", ...rest.slice(1)] : first === undefined ? [] : [first, ...rest];

const isAt = ({ kind, name }: Target, [first, second]: Problem["path"]): boolean => {
  if (kind === "field") return first === name;
  return second === name && first === (kind === "event" ? "event" : "custom_attributes");
};

/**
 * Makes the reader of a file's rows. An empty cell is an omitted field. Single custom attributes override the same names
 * in `custom_attributes`.
 */
export const createRowReader = ({ width, steps, isEmptyCell, isMapped }: RowReaderOptions): RowReader => {
  const idSources = steps.flatMap(({ target, sources }) =>
    target.kind === "field" && target.name === "external_id" ? sources : [],
  );
  const hasEvents = steps.some(({ target }) => target.kind === "event");

  const attributeSteps = steps.filter(({ target }) => target.kind === "attribute");
  /** Of a row whose custom attributes are too large together, the one with the longest text. */
  const largestAttribute = ([first, second]: Problem["path"], cells: readonly string[]): Step | undefined => {
    if (first !== "custom_attributes" || second !== undefined) return undefined;
    const lengthOf = ({ sources }: Step): number => Math.max(...sources.map(({ textOf }) => textOf(cells).length));
    return attributeSteps.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0];
  };

  const errorOf = (cells: readonly string[], found: readonly Problem[]): RowError => {
    const problems = found.map(({ path, ...problem }) => ({ ...problem, path: pathOf(path) }));
    const places = problems.map(({ path }) => {
      const sources = (steps.find(({ target }) => isAt(target, path)) ?? largestAttribute(path, cells))?.sources ?? [];
      const source = sources.find(({ textOf }) => textOf(cells) !== "") ?? sources[0];
      return { column: source?.column ?? "", value: source?.textOf(cells) ?? "" };
    });
    const named = problems.map((problem, index) => {
      const { column } = places[index]!;
      return isMapped && column !== "" ? { ...problem, message: `${problem.message} (column ${column})` } : problem;
    });
    return { message: describeProblems(named, "row"), ...places[0]!, code: found[0]!.code };
  };

  const read = (cells: readonly string[]): RowReading => {
    if (cells.length !== width && !(isMapped && cells.length > width && cells.slice(width).every(isEmptyCell))) {
      const advice = cells.length > width ? "; a cell that holds the delimiter must be in quotes" : "";
      return {
        error: errorOfRow("invalid", `the row has ${cells.length} cells where the header has ${width}${advice}`),
      };
    }
    const fields: Record<string, unknown> = { external_id: "" };
    const event: Record<string, unknown> = { external_id: "" };
    const attributes: [string, unknown][] = [];
    const problems: Problem[] = [];
    let characters = 0;
    for (const { target, sources } of steps) {
      let text = "";
      let used: CellSource | undefined;
      for (const source of sources) {
        text = source.textOf(cells);
        if (text === "") continue;
        used = source;
        break;
      }
      if (used === undefined) continue;
      const { kind, name } = target;
      // A mapping may use a cell more than once: the row must not become much larger by it.
      characters += text.length;
      if (characters > ROW_MAX_CHARACTERS) {
        return {
          error: errorOfRow("too_big", `the mapping makes more than ${ROW_MAX_CHARACTERS} characters of the row`),
        };
      }
      try {
        const value = used.valueOf(text);
        if (kind === "attribute") attributes.push([name, value]);
        else if (kind === "event") event[name] = value;
        else fields[name] = value;
      } catch (error) {
        const path = kind === "field" ? [name] : [kind === "event" ? "event" : "custom_attributes", name];
        problems.push({
          path,
          code: "invalid_format",
          message: error instanceof Error ? error.message : "cannot be read",
        });
      }
    }
    if (attributes.length > 0) {
      const { custom_attributes: json } = fields as { readonly custom_attributes?: object };
      fields["custom_attributes"] = { ...json, ...Object.fromEntries(attributes) };
    }
    if (hasEvents) fields["events"] = [event];
    const parsed = workItemInputSchema.safeParse(fields);
    if (parsed.success && problems.length === 0) return { input: parsed.data };
    return { error: errorOf(cells, parsed.success ? problems : [...problems, ...problemsOf(parsed.error)]) };
  };

  return {
    idWidth: Math.max(0, ...idSources.map((source) => source.width)),
    externalIdOf: (cells) => {
      for (const { textOf } of idSources) {
        const text = textOf(cells);
        if (text !== "") return text;
      }
      return "";
    },
    isEmpty: (cells) => cells.every(isEmptyCell),
    read,
  };
};
