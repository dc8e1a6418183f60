import type * as z from "zod";

/** One thing that is wrong with a value. */
export interface Problem {
  /** Keys that lead to it; empty where it is the value itself. */
  readonly path: readonly PropertyKey[];
  /** Zod's issue code, or `required`. */
  readonly code: string;
  /** What is wrong, without the path and without the value. */
  readonly message: string;
}

/** More are counted, not named: nobody reads them, and a body of 4 MiB can hold a million. */
const NAMED_MAX = 100;

/** A caller's own key may be megabytes long. */
const KEY_MAX_CHARACTERS = 100;

/** Key by key: `.name`, `[3]`, `["a.b"]`. */
const step = (key: PropertyKey): string => {
  if (typeof key === "number") return `[${key}]`;
  const whole = String(key);
  const name = whole.length > KEY_MAX_CHARACTERS ? `${whole.slice(0, KEY_MAX_CHARACTERS)}…` : whole;
  return /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
};

/** `work_items[3].custom_attributes["a.b"]` */
const formatPath = (path: readonly PropertyKey[]): string => path.map(step).join("").replace(/^\./, "");

/** What a schema finds wrong. */
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
 * Problems in words, each with its path. The one way in which requests, payloads of direct calls, CSV rows, stored
 * records and the environment are told what is wrong.
 * @param whole what to call the value itself, for example `body`
 */
export const describeProblems = (problems: readonly Problem[], whole: string): string => {
  const named = problems
    .slice(0, NAMED_MAX)
    .map(({ path, message }) => `${formatPath(path) || whole}: ${message}`)
    .join("; ");
  return problems.length > NAMED_MAX ? `${named}; and ${problems.length - NAMED_MAX} more` : named;
};
