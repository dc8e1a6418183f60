import type * as z from "zod";
import { type Problem, type ProblemCode, PROBLEM_CODES } from "./problem.ts";

type Issue = z.core.$ZodIssue;

const isCode = (value: unknown): value is ProblemCode => PROBLEM_CODES.some((code) => code === value);

/** The code of an issue. A rule of our own names it in `params.code`. */
const codeOf = (issue: Issue): ProblemCode => {
  if (issue.code === "custom") return isCode(issue.params?.["code"]) ? issue.params["code"] : "invalid";
  if (issue.code === "invalid_union") return "invalid_value";
  return isCode(issue.code) ? issue.code : "invalid";
};

/** The problems in a schema's error. */
export const problemsOf = ({ issues }: z.ZodError): Problem[] =>
  issues.flatMap((issue): Problem[] => {
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({ path: [...issue.path, key], code: "unknown", message: "is not known" }));
    }
    const isMissing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
    return [
      isMissing
        ? { path: issue.path, code: "required", message: "is required" }
        : { path: issue.path, code: codeOf(issue), message: issue.message },
    ];
  });
