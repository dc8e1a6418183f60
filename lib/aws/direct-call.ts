import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type * as z from "zod";
import { InvalidInputError, NotFoundError, describeProblems } from "../errors.ts";
import { problemsOf } from "../schema.ts";

function parsePayload<S extends z.ZodType>(schema: S, payload: unknown): z.output<S> {
  const parsed = schema.safeParse(payload);
  if (parsed.success) return parsed.data;
  const problems = problemsOf(parsed.error);
  throw new InvalidInputError(problems, describeProblems(problems, "payload"));
}

/**
 * Makes the handler of a function that other systems invoke directly. The invocation fails with the error that `handle`
 * throws, or with an InvalidInputError that names every invalid path of the payload. Lambda counts them all as errors. The
 * metric `DirectCallsRefused` counts those that are the caller's mistake.
 */
export function directCall<S extends z.ZodType, R>(schema: S, handle: (payload: z.output<S>) => Promise<R>) {
  const metrics = new Metrics();
  return async (payload: unknown): Promise<R> => {
    const began = Date.now();
    try {
      return await handle(parsePayload(schema, payload));
    } catch (error) {
      if (error instanceof InvalidInputError || error instanceof NotFoundError) {
        // Lambda counts an error when its call began (https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html). The
        // alarm subtracts this from it, so both must fall into the same period.
        metrics.singleMetric().setTimestamp(began).addMetric("DirectCallsRefused", MetricUnit.Count, 1);
      }
      throw error;
    }
  };
}
