import { describeProblems, type Problem, type ProblemCode, PROBLEMS_MAX } from "../../errors.ts";
import { problemsOf } from "../../schema.ts";
import { type WorkItemInput, workItemInputSchema } from "../../work-items/work-item.ts";
import { Cells } from "./cells.ts";
import { ROW_MAX_CHARACTERS } from "./csv-text.ts";
import type { Target } from "./target.ts";

/** One way to get a value from a row. */
export interface CellSource {
  /** Header of its column, or of several; empty if it has none. */
  readonly column: string;
  /**
   * The text of the row's cells; empty if they have none, or if the row has no characters left (`takeCharacters`). A mapping
   * may have a thousand sources for a cell of a megabyte, so a source must not scan a cell by itself.
   */
  readonly textOf: (cells: Cells) => string;
  /** Converts a text that isn't empty. @throws Error that says what it must be */
  readonly valueOf: (text: string) => unknown;
}

/** A target and its sources. The first that isn't empty counts. */
export interface FieldSource {
  readonly target: Target;
  readonly sources: readonly CellSource[];
  /** Whether the target is cleared if all sources are empty. @default it stays as it is */
  readonly clears?: boolean;
}

/** The text of a target in a row, and where it comes from. */
interface Reading {
  readonly fieldSource: FieldSource;
  readonly source: CellSource;
  readonly text: string;
}

/** A problem of a row, and the text that causes it, if known. */
interface RowProblem {
  readonly problem: Problem;
  readonly reading?: Reading;
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

/** Options of `RowReader`. */
export interface RowReaderOptions {
  /** Number of the header's cells. */
  readonly width: number;
  readonly fieldSources: readonly FieldSource[];
  readonly isEmptyAt: (cells: Cells, index: number) => boolean;
  /**
   * Whether the file comes from another system. Messages then name its columns, which have other names than fields, and rows
   * may end with more delimiters than the header.
   */
  readonly isMapped: boolean;
}

/** The error of a row as a whole. */
export function errorOfRow(code: ProblemCode, message: string): RowError {
  return { message, column: "", value: "", code };
}

/** The path of a problem as the mapping names it: a row has one event. */
function pathOf([first, ...rest]: Problem["path"]): Problem["path"] {
  if (first === undefined) return [];
  return first === "events" ? ["event", ...rest.slice(1)] : [first, ...rest];
}

/** The path of a target as the mapping names it. */
function targetPath({ kind, name }: Target): Problem["path"] {
  if (kind === "field") return [name];
  return [kind === "event" ? "event" : "custom_attributes", name];
}

function isAt(target: Target, path: Problem["path"]): boolean {
  return targetPath(target).every((key, index) => path[index] === key);
}

/** Reads the first source that isn't empty. */
function readingOf(fieldSource: FieldSource, cells: Cells): Reading | undefined {
  for (const source of fieldSource.sources) {
    const text = source.textOf(cells);
    if (text !== "") return { fieldSource, source, text };
  }
  return undefined;
}

/** The longest custom attribute, if all of them together are too large. */
function largestAttribute([first, second]: Problem["path"], readings: readonly Reading[]): Reading | undefined {
  if (first !== "custom_attributes" || second !== undefined) return undefined;
  const attributes = readings.filter(({ fieldSource }) => fieldSource.target.kind === "attribute");
  return attributes.reduce<Reading | undefined>(
    (most, reading) => (most === undefined || reading.text.length > most.text.length ? reading : most),
    undefined,
  );
}

const TOO_LARGE = errorOfRow("too_big", `the mapped row is longer than ${ROW_MAX_CHARACTERS} characters`);

/** The columns of a file are the limit of what a row removes, which may be more than a request may. */
function withRemoved(input: WorkItemInput, removed: readonly string[]): WorkItemInput {
  return removed.length === 0 ? input : { ...input, remove_attributes: [...removed] };
}

/** The input of a row while its cells are read. */
interface Input {
  readonly fields: Record<string, unknown>;
  readonly event: Record<string, unknown>;
  readonly attributes: [name: string, value: unknown][];
  /** Custom attributes to remove. */
  readonly removed: string[];
}

function setTarget({ fields, event, attributes }: Input, { kind, name }: Target, value: unknown): void {
  if (kind === "attribute") attributes.push([name, value]);
  else if (kind === "event") event[name] = value;
  else fields[name] = value;
}

function clearTarget(input: Input, target: Target): void {
  if (target.kind === "attribute") input.removed.push(target.name);
  else setTarget(input, target, null);
}

function problemOfReading(reading: Reading, error: unknown): RowProblem {
  const path = targetPath(reading.fieldSource.target);
  const message = error instanceof Error ? error.message : "cannot be read";
  return { problem: { path, code: "invalid_format", message }, reading };
}

/**
 * Reads the rows of one file by the values of their cells. An empty cell leaves its field out, or clears it if the field's source says so.
 * Single custom attributes override the same names in `custom_attributes`.
 */
export class RowReader {
  readonly #options: RowReaderOptions;
  readonly #idSource: FieldSource | undefined;
  readonly #hasEvents: boolean;

  constructor(options: RowReaderOptions) {
    this.#options = options;
    this.#idSource = options.fieldSources.find(
      ({ target }) => target.kind === "field" && target.name === "external_id",
    );
    this.#hasEvents = options.fieldSources.some(({ target }) => target.kind === "event");
  }

  /** The row's external_id; empty if it has none. */
  externalIdOf(values: readonly string[]): string {
    return (this.#idSource && readingOf(this.#idSource, new Cells(values))?.text) ?? "";
  }

  /** Whether all cells are empty. Such rows are skipped. */
  isEmpty(values: readonly string[]): boolean {
    const cells = new Cells(values);
    return values.every((_, index) => this.#options.isEmptyAt(cells, index));
  }

  read(values: readonly string[]): RowReading {
    const cells = new Cells(values);
    const error = this.#errorOfWidth(cells);
    if (error) return { error };
    const input: Input = { fields: { external_id: "" }, event: { external_id: "" }, attributes: [], removed: [] };
    const problems: RowProblem[] = [];
    const readings: Reading[] = [];
    for (const fieldSource of this.#options.fieldSources) {
      const reading = readingOf(fieldSource, cells);
      if (!cells.takeCharacters(reading?.text.length ?? 0)) return { error: TOO_LARGE };
      if (reading === undefined) {
        if (fieldSource.clears === true) clearTarget(input, fieldSource.target);
        continue;
      }
      readings.push(reading);
      try {
        setTarget(input, fieldSource.target, reading.source.valueOf(reading.text));
      } catch (cause) {
        problems.push(problemOfReading(reading, cause));
      }
    }
    const parsed = workItemInputSchema.safeParse(this.#inputOf(input));
    if (parsed.success && problems.length === 0) return { input: withRemoved(parsed.data, input.removed) };
    const found = parsed.success ? [] : problemsOf(parsed.error).map((problem) => ({ problem }));
    return { error: this.#errorOf([...problems, ...found], readings) };
  }

  #inputOf({ fields, event, attributes }: Input): unknown {
    if (attributes.length > 0) {
      const { custom_attributes: json } = fields as { readonly custom_attributes?: object };
      fields["custom_attributes"] = { ...json, ...Object.fromEntries(attributes) };
    }
    if (this.#hasEvents) fields["events"] = [event];
    return fields;
  }

  /** Why a row with too few or too many cells fails. */
  #errorOfWidth(cells: Cells): RowError | undefined {
    const { width, isEmptyAt, isMapped } = this.#options;
    const { values } = cells;
    const isLeftOut = (_: string, index: number): boolean => index < width || isEmptyAt(cells, index);
    if (values.length === width || (values.length > width && isMapped && values.every(isLeftOut))) return undefined;
    const advice = values.length > width ? "; put values that contain the delimiter in quotes" : "";
    const count = `${values.length} value${values.length === 1 ? "" : "s"}`;
    return errorOfRow("invalid", `the row has ${count} but the header has ${width}${advice}`);
  }

  #errorOf(found: readonly RowProblem[], readings: readonly Reading[]): RowError {
    const shown = found.slice(0, PROBLEMS_MAX).map(({ problem, reading }) => {
      const path = pathOf(problem.path);
      const location = reading
        ? { column: reading.source.column, value: reading.text }
        : this.#locationOf(path, readings);
      const column = this.#options.isMapped && location.column !== "" ? ` (column ${location.column})` : "";
      return { problem: { ...problem, path, message: `${problem.message}${column}` }, location };
    });
    const problems = [...shown, ...found.slice(PROBLEMS_MAX)].map(({ problem }) => problem);
    return { message: describeProblems(problems, "row"), ...shown[0]!.location, code: problems[0]!.code };
  }

  #locationOf(path: Problem["path"], readings: readonly Reading[]): Pick<RowError, "column" | "value"> {
    const fieldSource = this.#options.fieldSources.find(({ target }) => isAt(target, path));
    const reading =
      fieldSource === undefined
        ? largestAttribute(path, readings)
        : readings.find((candidate) => candidate.fieldSource === fieldSource);
    return { column: (reading?.source ?? fieldSource?.sources[0])?.column ?? "", value: reading?.text ?? "" };
  }
}
