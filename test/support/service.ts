import { routes } from "../../functions/routes.ts";
import type { operations } from "../../apps/client/openapi-types.ts";
import type { ApiHandler } from "../../lib/http/middleware.ts";
import { createHandler, type RouteName } from "./handlers.ts";
import { type ApiRequest, type ApiResponse, call, createTestOrganization } from "./organization.ts";
import { createTestRuntime, type TestRuntime } from "./runtime.ts";

type Responses<N extends RouteName> = operations[N]["responses"];
type Success<N extends RouteName> = Responses<N>[keyof Responses<N> & (200 | 201 | 202)];
type ContentOf<R> = R extends { readonly content: infer C } ? C[keyof C] : never;

/** The body of a response as the document describes it for a success, and the error of any other. */
type BodyOf<N extends RouteName> = N extends RouteName ? ContentOf<Success<N>> & { readonly error?: string } : never;
/** A response of an endpoint. Its body is documented, which `call` has checked. */
export type ResponseOf<N extends RouteName> = ApiResponse<BodyOf<N>>;

/** Makes the way to call every endpoint of a service with a key. Each handler is made at its first call. */
export function createCaller(runtime: TestRuntime, key: string) {
  const handlers = new Map<RouteName, Promise<ApiHandler>>();
  return async <N extends RouteName>(name: N, request: ApiRequest = {}): Promise<ResponseOf<N>> => {
    const made = handlers.get(name) ?? createHandler(runtime, name);
    handlers.set(name, made);
    const { method, path: resource } = routes[name];
    return (await call(await made, { method, resource, key, ...request })) as ResponseOf<N>;
  };
}
/** The way to call every endpoint of a service with a key. */
export type Caller = ReturnType<typeof createCaller>;

/** Makes a service on new tables, and one organization that calls it. */
export const createTestService = async (options: Parameters<typeof createTestRuntime>[0] = {}) => {
  const runtime = await createTestRuntime(options);
  const { organization, key } = await createTestOrganization(runtime);
  return { runtime, organization, key, call: createCaller(runtime, key) };
};
