import middyChain from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type { Runtime } from "../runtime/runtime.ts";
import { type Call, callOf, type RouteResponse, toResult } from "./call.ts";
import type { ApiHandler } from "./chain.ts";
import { errorTable } from "./error-table.ts";
import { requestIdAndLog } from "./request-log.ts";
import { responseHeaders } from "./response-headers.ts";
import type { Route } from "./route.ts";

/** An endpoint without API key and rate limit. The gateway's stage throttles it. */
export const publicEndpoint = <const R extends Route & { readonly public: true }>(
  route: R,
  runtime: Runtime<object>,
  handle: (call: Call<R>, event: APIGatewayProxyEvent) => Promise<RouteResponse<R>>,
): ApiHandler => {
  const chain = middyChain<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(requestIdAndLog(route.name, runtime))
    .use(responseHeaders(runtime))
    .use(errorTable)
    .handler(async (event: APIGatewayProxyEvent, context: Context): Promise<APIGatewayProxyResult> =>
      toResult(route, event, await handle(callOf(route, runtime.clock, event, context), event)),
    );
  return (event, context) => chain(event, context);
};
