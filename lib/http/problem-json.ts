import { accepts } from "./accepts.ts";

/** The media type of RFC 9457. */
export const PROBLEM_JSON = "application/problem+json";

/** Whether the caller accepts problem details. */
export function acceptsProblemJson(accept: string | undefined): boolean {
  return accepts(accept, PROBLEM_JSON);
}
