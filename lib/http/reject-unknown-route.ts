import middyChain from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { NotFoundError } from "../errors.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { ApiHandler } from "./chain.ts";
import { errorTable, MethodNotAllowedError } from "./error-table.ts";
import { requestIdAndLog } from "./request-log.ts";
import type { Route } from "./route.ts";

/** Refuses requests without a route: 405 with `Allow` if the path has other methods, else 404. No API key is needed. */
export const rejectUnknownRoute = (
  name: string,
  routes: readonly Pick<Route, "method" | "path">[],
  runtime: Runtime<object>,
): ApiHandler => {
  const chain = middyChain<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(requestIdAndLog(name, runtime))
    .use(errorTable)
    .handler(async ({ resource }: APIGatewayProxyEvent): Promise<never> => {
      const allowed = routes.filter(({ path }) => path === resource).map(({ method }) => method);
      if (allowed.length > 0) throw new MethodNotAllowedError(allowed);
      throw new NotFoundError("no such path");
    });
  return (event, context) => chain(event, context);
};
