import { randomUUID } from "node:crypto";
import type { Runtime } from "../runtime/runtime.ts";
import { beginProgress, progressOf, type Step } from "./chain.ts";
import { readHeaders } from "./request.ts";

/** Name, message and stack alone: what else an error carries (a `cause`, a request) may hold what a customer sent. */
const withoutAttachments = (error: unknown) =>
  error instanceof Error ? { name: error.name, message: error.message, stack: error.stack } : { name: typeof error };

/**
 * First on the way in, last on the way out: every response has `x-request-id`, every request one line in the log. The line
 * holds neither bodies nor keys; a 5xx tells its error.
 */
export const requestIdAndLog = (route: string, { clock, log }: Pick<Runtime<object>, "clock" | "log">): Step => {
  const finish: Step["after"] = ({ event, response, error }) => {
    if (!response) return;
    const { requestId, startedAt, organization } = progressOf(event);
    response.headers = { ...response.headers, "x-request-id": requestId };
    const line = {
      request_id: requestId,
      route,
      organization: organization?.id,
      status: response.statusCode,
      duration_ms: clock() - startedAt,
    };
    if (response.statusCode < 500) log.info("request", line);
    else log.error("request", { ...line, error: withoutAttachments(error) });
  };
  return {
    before: ({ event, context }) => {
      beginProgress(event, {
        requestId: event.requestContext?.requestId || context.awsRequestId || randomUUID(),
        startedAt: clock(),
        headers: readHeaders(event),
      });
    },
    after: finish,
    onError: finish,
  };
};
