import { routes } from "../../../functions/routes.ts";
import { operations } from "../../../infra/openapi/operations.ts";
import type { Route } from "../../../lib/http/route.ts";

/** The documented example of a route's body, which is valid. @throws Error if the route has none */
export function exampleBodyOf(route: Route): object {
  const name = (Object.keys(routes) as (keyof typeof routes)[]).find((each) => routes[each] === route);
  const body = name && operations[name].body;
  if (body === undefined) throw new Error(`${route.name} takes a body: add an example of one, body, to its operation`);
  return body;
}
