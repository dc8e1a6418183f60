import { routes } from "../../functions/routes.ts";
import type { ApiHandler } from "../../lib/http/middleware.ts";
import type { TestRuntime } from "./runtime.ts";

/** Name of a route in `functions/routes`. */
export type RouteName = keyof typeof routes;
/** The handlers of all endpoints, by the names of their routes. */
export type Handlers = Readonly<Record<RouteName, ApiHandler>>;

/** Makes the handler of an endpoint as its function does. */
export async function createHandler(runtime: TestRuntime, name: RouteName): Promise<ApiHandler> {
  const { create } = (await import(`../../functions/${routes[name].name}.ts`)) as {
    readonly create: (from: TestRuntime) => ApiHandler;
  };
  return create(runtime);
}

/** Makes the handlers of all endpoints. */
export async function createHandlers(runtime: TestRuntime): Promise<Handlers> {
  const names = Object.keys(routes) as RouteName[];
  const made = names.map(async (name) => [name, await createHandler(runtime, name)] as const);
  return Object.fromEntries(await Promise.all(made)) as Handlers;
}
