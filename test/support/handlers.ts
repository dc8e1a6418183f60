import { routes } from "../../functions/routes.ts";
import type { ApiHandler } from "../../lib/http/chain.ts";
import type { TestRuntime } from "./runtime.ts";

/** Name of a route in `functions/routes`. */
export type RouteName = keyof typeof routes;
/** The handlers of all endpoints, by the names of their routes. */
export type Handlers = Readonly<Record<RouteName, ApiHandler>>;

/** Makes the handlers of all endpoints as their functions do. */
export const createHandlers = async (runtime: TestRuntime): Promise<Handlers> => {
  const made = Object.entries(routes).map(async ([name, route]) => {
    const { create } = (await import(`../../functions/${route.name}.ts`)) as {
      readonly create: (from: TestRuntime) => ApiHandler;
    };
    return [name, create(runtime)] as const;
  });
  return Object.fromEntries(await Promise.all(made)) as Handlers;
};
