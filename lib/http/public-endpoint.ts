import type { APIGatewayProxyEvent } from "aws-lambda";
import type { Runtime } from "../aws/runtime.ts";
import { type Call, callOf, type RouteResponse, toResult } from "./call.ts";
import type { ApiHandler } from "./chain.ts";
import { publicChain } from "./public-chain.ts";
import type { Route } from "./route.ts";

/** An endpoint without API key and rate limit. */
export function publicEndpoint<const R extends Route & { readonly public: true }>(
  route: R,
  runtime: Runtime<object>,
  handle: (call: Call<R>, event: APIGatewayProxyEvent) => Promise<RouteResponse<R>>,
): ApiHandler {
  return publicChain(route.name, runtime, async (event, context) =>
    toResult(route, event, await handle(callOf(route, runtime.clock, event, context), event)),
  );
}
