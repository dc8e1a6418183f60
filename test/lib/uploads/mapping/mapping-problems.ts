import { describeProblems } from "../../../../lib/errors.ts";
import { problemsOf } from "../../../../lib/schema.ts";
import { assertMapping } from "../../../../lib/uploads/mapping/file-format.ts";
import { mappingSchema } from "../../../../lib/uploads/mapping/mapping.ts";

/** What is wrong with a mapping, as a response says it; empty if nothing is. */
export const problems = (mapping: unknown): string => {
  const parsed = mappingSchema.safeParse(mapping);
  if (parsed.error) return describeProblems(problemsOf(parsed.error), "mapping");
  try {
    assertMapping(parsed.data);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};
