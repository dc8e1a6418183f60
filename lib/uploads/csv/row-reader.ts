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
   * The text of the row's cells; empty if it has none, or no more characters left (`takeCharacters`). A mapping may have a thousand sources for a cell of a megabyte: no source may go through a cell for itself.
   */
  readonly textOf: (cells: Cells) => string;
  /** Converts the text, which is not empty. @throws Error that says what it must be */
  readonly valueOf: (text: string) => unknown;
}

/** A target and its sources, of which the first that is not empty counts. */
export interface Step {
  readonly target: Target;
  readonly sources: readonly CellSource[];
  /** Whether the target is cleared if all sources are empty. @default it stays as it is */
  readonly clears?: boolean;
}

/** The text that a step makes of a row. */
interface Use {
  readonly step: Step;
  readonly source: CellSource;
  readonly text: string;
}

/** A problem of a row, and the text that has it, if that is known. */
interface RowProblem {
  readonly problem: Problem;
  readonly use?: Use;
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

/** What the reader of a file is made of. */
export interface RowReaderOptions {
  /** Number of the header's cells. */
  readonly width: number;
  readonly steps: readonly Step[];
  readonly isEmptyAt: (cells: Cells, index: number) => boolean;
  /**
   * Whether the file is another system's: messages name the columns, which are not called like the fields, and rows may
   * end with more delimiters than the header.
   */
  readonly isMapped: boolean;
}

/** The error of a row as a whole. */
export function errorOfRow(code: ProblemCode, message: string): RowError {
  return { message, column: "", value: "", code };
}

/** Problems of events are called like the mapping's targets: a row has one event. */
function pathOf([first, ...rest]: Problem["path"]): Problem["path"] {
  return first === "events" ? ["event", ...rest.slice(1)] : first === undefined ? [] : [first, ...rest];
}

function isAt({ kind, name }: Target, [first, second]: Problem["path"]): boolean {
  if (kind === "field") return first === name;
  return second === name && first === (kind === "event" ? "event" : "custom_attributes");
}

/** The first source of a step that is not empty. */
function useOf(step: Step, cells: Cells): Use | undefined {
  for (const source of step.sources) {
    const text = source.textOf(cells);
    if (text !== "") return { step, source, text };
  }
  return undefined;
}

/** Of a row whose custom attributes are too large together, the one with the longest text. */
function largestAttribute([first, second]: Problem["path"], uses: readonly Use[]): Use | undefined {
  if (first !== "custom_attributes" || second !== undefined) return undefined;
  const attributes = uses.filter(({ step }) => step.target.kind === "attribute");
  return attributes.reduce<Use | undefined>(
    (most, use) => (most === undefined || use.text.length > most.text.length ? use : most),
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

function problemOfUse(use: Use, error: unknown): RowProblem {
  const { kind, name } = use.step.target;
  const path = kind === "field" ? [name] : [kind === "event" ? "event" : "custom_attributes", name];
  const message = error instanceof Error ? error.message : "cannot be read";
  return { problem: { path, code: "invalid_format", message }, use };
}

/**
 * Reads the rows of one file by the values of their cells. An empty cell omits its field, or clears it if its step says so.
 * Single custom attributes override the same names in `custom_attributes`.
 */
export class RowReader {
  readonly #options: RowReaderOptions;
  readonly #idStep: Step | undefined;
  readonly #hasEvents: boolean;

  constructor(options: RowReaderOptions) {
    this.#options = options;
    this.#idStep = options.steps.find(({ target }) => target.kind === "field" && target.name === "external_id");
    this.#hasEvents = options.steps.some(({ target }) => target.kind === "event");
  }

  /** The row's external_id; empty if it has none. */
  externalIdOf(values: readonly string[]): string {
    return (this.#idStep && useOf(this.#idStep, new Cells(values))?.text) ?? "";
  }

  /** Whether all cells are empty, so that the row is left out. */
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
    const uses: Use[] = [];
    for (const step of this.#options.steps) {
      const use = useOf(step, cells);
      if (!cells.takeCharacters(use?.text.length ?? 0)) return { error: TOO_LARGE };
      if (use === undefined) {
        if (step.clears === true) clearTarget(input, step.target);
        continue;
      }
      uses.push(use);
      try {
        setTarget(input, step.target, use.source.valueOf(use.text));
      } catch (cause) {
        problems.push(problemOfUse(use, cause));
      }
    }
    const parsed = workItemInputSchema.safeParse(this.#inputOf(input));
    if (parsed.success && problems.length === 0) return { input: withRemoved(parsed.data, input.removed) };
    const found = parsed.success ? [] : problemsOf(parsed.error).map((problem) => ({ problem }));
    return { error: this.#errorOf([...problems, ...found], uses) };
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

  #errorOf(found: readonly RowProblem[], uses: readonly Use[]): RowError {
    const shown = found.slice(0, PROBLEMS_MAX).map(({ problem, use }) => {
      const path = pathOf(problem.path);
      const location = use ? { column: use.source.column, value: use.text } : this.#locationOf(path, uses);
      const column = this.#options.isMapped && location.column !== "" ? ` (column ${location.column})` : "";
      return { problem: { ...problem, path, message: `${problem.message}${column}` }, location };
    });
    const problems = [...shown, ...found.slice(PROBLEMS_MAX)].map(({ problem }) => problem);
    return { message: describeProblems(problems, "row"), ...shown[0]!.location, code: problems[0]!.code };
  }

  #locationOf(path: Problem["path"], uses: readonly Use[]): Pick<RowError, "column" | "value"> {
    const step = this.#options.steps.find(({ target }) => isAt(target, path));
    const use = step === undefined ? largestAttribute(path, uses) : uses.find((each) => each.step === step);
    return { column: (use?.source ?? step?.sources[0])?.column ?? "", value: use?.text ?? "" };
  }
}
