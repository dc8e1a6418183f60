import type { Logger } from "@aws-lambda-powertools/logger";
import type { Clock } from "../clock.ts";

/** What one line says of one request: never a body, never a key. */
export interface RequestSummary {
  readonly requestId: string;
  readonly route: string;
  readonly organization: string | undefined;
  readonly status: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** Name, message and stack alone: what else an error carries (a `cause`, a request) may hold what a customer sent. */
const withoutAttachments = (error: unknown) =>
  error instanceof Error ? { name: error.name, message: error.message, stack: error.stack } : { name: typeof error };

/** One structured line a request; an error line where the answer is 5xx. */
export const logRequest = (log: Logger, clock: Clock, summary: RequestSummary, error: unknown): void => {
  const { requestId, route, organization, status, startedAt } = summary;
  const line = { request_id: requestId, route, organization, status, duration_ms: clock() - startedAt };
  if (status < 500) log.info("request", line);
  else log.error("request", { ...line, error: withoutAttachments(error) });
};
