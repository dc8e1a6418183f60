import * as z from "zod";
import { type Problem, PROBLEM_CODES, PROBLEMS_MAX, shownKey } from "./errors.ts";

/** One problem in a request, for programs. */
export const problemDetailSchema = z
  .strictObject({
    pointer: z
      .string()
      .optional()
      .describe("JSON Pointer (RFC 6901) to the value in the body. A part of a form is named by its name."),
    parameter: z.string().optional().describe("Name of the query parameter or header."),
    code: z
      .enum(PROBLEM_CODES)
      .meta({ id: "ProblemCode", description: "What is wrong with a value. New codes may be added." })
      .describe("Code of the problem, for programs."),
    message: z.string().describe("Message for people."),
  })
  .meta({ id: "ProblemDetail", description: "One problem in a request. Has either `pointer` or `parameter`." });
type ProblemDetail = z.infer<typeof problemDetailSchema>;

function escaped(key: PropertyKey): string {
  return shownKey(key).replaceAll("~", "~0").replaceAll("/", "~1");
}

/** A problem as callers see it. Long keys are truncated. */
function toProblemDetail({ path, code, message, isParameter = false }: Problem): ProblemDetail {
  return isParameter
    ? { parameter: shownKey(path[0] ?? ""), code, message }
    : { pointer: path.map((key) => `/${escaped(key)}`).join(""), code, message };
}

/** The first problems as callers see them. */
export function toProblemDetails(problems: readonly Problem[], max = PROBLEMS_MAX): ProblemDetail[] {
  return problems.slice(0, max).map(toProblemDetail);
}
