import { LocalStackError } from "../local-stack-error.ts";

/** A pattern of an event source mapping: values that an event must have, by the same keys. */
export type FilterPattern = Readonly<Record<string, unknown>>;

function matchesRule(rule: unknown, value: unknown): boolean {
  if (typeof rule === "string" || typeof rule === "number") return value === rule;
  const { prefix } = (rule ?? {}) as { readonly prefix?: unknown };
  if (typeof prefix === "string") return typeof value === "string" && value.startsWith(prefix);
  throw new LocalStackError(`the filter ${JSON.stringify(rule)} does not run locally: use a value or a prefix`);
}

/** Whether an event has the values of a pattern. @throws LocalStackError for a rule that is not supported */
export function matchesPattern(pattern: FilterPattern, event: unknown): boolean {
  return Object.entries(pattern).every(([key, expected]) => {
    const value = (event as Readonly<Record<string, unknown>> | undefined)?.[key];
    if (Array.isArray(expected)) return expected.some((rule) => matchesRule(rule, value));
    return matchesPattern(expected as FilterPattern, value);
  });
}
