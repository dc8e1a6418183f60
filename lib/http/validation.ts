import type * as z from "zod";
import { InvalidInputError } from "../errors.ts";

/** An answer must fit Lambda's 6 MB, however much of a request is wrong. */
const MESSAGE_MAX_CHARACTERS = 256 * 1024;

const step = (key: PropertyKey): string => {
  if (typeof key === "number") return `[${key}]`;
  const name = String(key);
  return /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
};

/** `work_items[3].custom_attributes["a.b"]` */
const formatPath = (path: readonly PropertyKey[]): string => path.map(step).join("").replace(/^\./, "");

const describe = (issue: z.core.$ZodIssue, whole: string): string[] => {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `${formatPath([...issue.path, key])}: is not known`);
  }
  const missing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  return [`${formatPath(issue.path) || whole}: ${missing ? "is required" : issue.message}`];
};

/** Every offending path with what is wrong there, as far as an answer can hold them. */
const describeAll = (problems: readonly string[]): string => {
  let message = "";
  for (const [index, problem] of problems.entries()) {
    const next = index === 0 ? problem : `; ${problem}`;
    if (message.length + next.length > MESSAGE_MAX_CHARACTERS) {
      return `${message.slice(0, MESSAGE_MAX_CHARACTERS)}; and ${problems.length - index} more`;
    }
    message += next;
  }
  return message;
};

/** The problems that a schema finds, and its value where it finds none. */
export interface Validated<T> {
  readonly value: T | undefined;
  readonly problems: readonly string[];
}

/** @param whole what to call the value itself in a message, for example `body`. */
export const validate = <S extends z.ZodType>(schema: S, value: unknown, whole: string): Validated<z.output<S>> => {
  const parsed = schema.safeParse(value);
  return parsed.success
    ? { value: parsed.data, problems: [] }
    : { value: undefined, problems: parsed.error.issues.flatMap((issue) => describe(issue, whole)) };
};

/** @throws InvalidInputError naming every problem. */
export const refuseProblems = (problems: readonly string[]): void => {
  if (problems.length > 0) throw new InvalidInputError(describeAll(problems));
};
