import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { Context } from "aws-lambda";
import type * as z from "zod";
import type { Clock } from "../clock.ts";
import { InvalidInputError, NotFoundError, describeProblems } from "../errors.ts";
import { problemsOf } from "../schema.ts";

function parsePayload<S extends z.ZodType>(schema: S, payload: unknown): z.output<S> {
  const parsed = schema.safeParse(payload);
  if (parsed.success) return parsed.data;
  const problems = problemsOf(parsed.error);
  throw new InvalidInputError(problems, describeProblems(problems, "payload"));
}

/** A call writes within this time, or fails. */
const WRITE_WITHIN_MS = 10_000;

/**
 * Makes the handler of a function that other systems invoke directly. The invocation fails with the error that `handle`
 * throws, or with an InvalidInputError that names every invalid path of the payload. Lambda counts them all as errors. The
 * metric `DirectCallsRefused` counts those that are the caller's mistake.
 * @param handle is given the time after which it must not write, in milliseconds since the epoch
 */
export function directCall<S extends z.ZodType, R>(
  clock: Clock,
  schema: S,
  handle: (payload: z.output<S>, deadline: number) => Promise<R>,
) {
  const metrics = new Metrics();
  return async (payload: unknown, context?: Partial<Context>): Promise<R> => {
    const began = Date.now();
    const timeLeft = context?.getRemainingTimeInMillis?.() ?? WRITE_WITHIN_MS;
    const deadline = clock() + Math.min(timeLeft, WRITE_WITHIN_MS);
    try {
      return await handle(parsePayload(schema, payload), deadline);
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
