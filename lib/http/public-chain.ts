import middyChain from "@middy/core";
import type { APIGatewayProxyResult, Context } from "aws-lambda";
import type { Runtime } from "../aws/runtime.ts";
import { type ApiEvent, apiHandler, type ApiHandler } from "./chain.ts";
import { errorTable } from "./error-table.ts";
import { requestIdAndLog } from "./request-log.ts";
import { responseHeaders } from "./response-headers.ts";

/** The middleware chain of functions without API key and rate limit. The gateway's stage throttles them. */
export function publicChain(
  name: string,
  runtime: Runtime<object>,
  handle: (event: ApiEvent, context: Context) => Promise<APIGatewayProxyResult>,
): ApiHandler {
  const chain = middyChain<ApiEvent, APIGatewayProxyResult>()
    .use(requestIdAndLog(name, runtime))
    .use(responseHeaders(runtime))
    .use(errorTable)
    .handler(handle);
  return apiHandler(runtime.clock, chain);
}
