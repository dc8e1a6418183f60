import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { Runtime } from "../aws/runtime.ts";
import type { Step } from "./chain.ts";

/** Only name, message and stack: an error's other properties (a `cause`, a request) may hold a customer's data. */
function withoutAttachments(error: unknown) {
  return error instanceof Error
    ? { name: error.name, message: error.message, stack: error.stack }
    : { name: typeof error };
}

function bytesOf(body: string | null | undefined, isBase64 = false): number {
  return Buffer.byteLength(body ?? "", isBase64 ? "base64" : "utf8");
}

/** The metric of 5xx responses by function and version. Lambda's own errors don't include responses of the error table. */
export const SERVER_ERRORS = "ServerErrors";

/**
 * The last step for responses: adds `x-request-id` to every response and writes one log line for every request. The
 * line contains no bodies and no API keys, only the key's ID; for a 5xx it contains the error.
 */
export function requestIdAndLog(route: string, { clock, log }: Pick<Runtime<object>, "clock" | "log">): Step {
  const metrics = new Metrics();
  const version = process.env["AWS_LAMBDA_FUNCTION_VERSION"] ?? "none";
  const finish: Step["after"] = ({ event, response, error }) => {
    if (!response) return;
    const { requestId, startedAt, caller, logged } = event.progress;
    response.headers = { ...response.headers, "x-request-id": requestId };
    const line = {
      request_id: requestId,
      route,
      organization: caller?.organization.id,
      key: caller?.keyId,
      status: response.statusCode,
      duration_ms: clock() - startedAt,
      request_bytes: bytesOf(event.body, event.isBase64Encoded),
      response_bytes: bytesOf(response.body, response.isBase64Encoded),
      ...logged,
    };
    if (response.statusCode < 500) {
      log.info("request", line);
      return;
    }
    log.error("request", { ...line, error: withoutAttachments(error) });
    metrics.singleMetric().addDimensions({ route, version }).addMetric(SERVER_ERRORS, MetricUnit.Count, 1);
  };
  return { after: finish, onError: finish };
}
