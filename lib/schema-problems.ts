import type * as z from "zod";

/** A problem that a schema found in a value. */
export interface Problem {
  /** Path of keys to the problem; empty if it is the value itself. */
  readonly path: readonly PropertyKey[];
  /** Zod's issue code, or `required`. */
  readonly code: string;
  /** Describes the problem, without the path and without the value. */
  readonly message: string;
}

/** The most problems that a message names; it counts the others. A body of 4 MiB can have a million. */
const NAMED_MAX = 100;

/** Longer keys are truncated in messages: a caller's key may have megabytes. */
const KEY_MAX_CHARACTERS = 100;

/** One key of a path: `.name`, `[3]` or `["a.b"]`. */
const step = (key: PropertyKey): string => {
  if (typeof key === "number") return `[${key}]`;
  const whole = String(key);
  const name = whole.length > KEY_MAX_CHARACTERS ? `${whole.slice(0, KEY_MAX_CHARACTERS)}…` : whole;
  return /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
};

/** A path such as `work_items[3].custom_attributes["a.b"]`. */
const formatPath = (path: readonly PropertyKey[]): string => path.map(step).join("").replace(/^\./, "");

/** The problems in a schema's error. */
export const problemsOf = ({ issues }: z.ZodError): Problem[] =>
  issues.flatMap((issue): Problem[] => {
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({ path: [...issue.path, key], code: issue.code, message: "is not known" }));
    }
    const isMissing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
    return [
      isMissing
        ? { path: issue.path, code: "required", message: "is required" }
        : { path: issue.path, code: issue.code, message: issue.message },
    ];
  });

/**
 * Describes problems in one message, each with its path. Used for requests, payloads of direct invocations, CSV rows,
 * stored records and the environment.
 * @param whole name of the value itself, for example `body`
 */
export const describeProblems = (problems: readonly Problem[], whole: string): string => {
  const named = problems
    .slice(0, NAMED_MAX)
    .map(({ path, message }) => `${formatPath(path) || whole}: ${message}`)
    .join("; ");
  return problems.length > NAMED_MAX ? `${named}; and ${problems.length - NAMED_MAX} more` : named;
};
