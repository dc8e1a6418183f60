import * as z from "zod";
import { functionNameOf, type Permissions } from "../aws/permissions.ts";
import { MissingScopeError } from "../errors.ts";
import type { KeyScope } from "../organizations/api-key.ts";

/** How the body of a request is parsed before the schema validates it. */
type BodyKind = "none" | "json" | "optional-json" | "multipart-or-json";

/** Where a response's body leads: parameters of another operation, as runtime expressions. */
interface Link {
  /** The name of its row. */
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly description: string;
}

/** What the API's document says of an endpoint beside what follows from the rest of its row. */
export interface Operation {
  readonly description: string;
  /** Value of the path parameter `id` in examples. */
  readonly id?: string;
  /** The example of a JSON body. */
  readonly body?: object;
  /** Headers of requests that the endpoint reads beside those of every endpoint. */
  readonly requestHeaders?: readonly ("Idempotency-Key" | "If-Match")[];
  /** What the response with the row's status holds. */
  readonly response: string;
  /** What other successful responses hold, by status. They have the same body. */
  readonly otherResponses?: Readonly<Record<number, string>>;
  readonly example: object | string;
  /** Headers of successful responses; `Retry-After-Job` is `Retry-After` where a job is shown. */
  readonly headers?: readonly ("Content-Disposition" | "ETag" | "Retry-After-Job")[];
  readonly links?: Readonly<Record<string, Link>>;
  /** Errors in addition to those that follow from the row. */
  readonly errors?: readonly (409 | 410 | 412)[];
}

/** Calls of an endpoint that need other scopes than the rest. */
interface ScopeException {
  /** Which calls, for the document: `with \`dry_run\``. */
  readonly when: string;
  /** Whether a call is one. @param body the validated one */
  isFor(body: unknown): boolean;
  readonly scopes: readonly KeyScope[];
}

/** One endpoint. The deployment, the local gateway, the OpenAPI document and the tests are derived from it. */
export interface Route {
  readonly name: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** API Gateway resource path. */
  readonly path: string;
  readonly summary: string;
  readonly bodyKind: BodyKind;
  readonly query: z.ZodType;
  /** Names of the query parameters that may be given several times. @default none */
  readonly repeatable?: readonly string[];
  readonly body: z.ZodType;
  /** Fields beside the file in a multipart body. */
  readonly fields?: z.ZodType;
  readonly response: z.ZodType;
  /** Media type of a successful response whose body is a text. @default JSON */
  readonly contentType?: string;
  /** Status of a successful response, unless the handler sets another. */
  readonly status: 200 | 201 | 202;
  /** The scopes that a key needs, all of them; an empty list if every key may call it. Only public rows leave them out. */
  readonly scopes?: readonly KeyScope[];
  /** Calls that need other scopes than those of the row, by their body. */
  readonly exception?: ScopeException;
  /**
   * Leaves out of a response what a key without the scope `read` hasn't sent itself. Every row needs it whose calls can
   * show what is stored, and don't need `read`.
   * @param request the validated body of the call
   */
  withoutRead?(response: object, request: unknown): object;
  /** Whether the endpoint is not in the contract. */
  readonly extension?: boolean;
  /** Whether it needs no API key and has no rate limit. It returns no organization's data. */
  readonly public?: true;
  readonly permissions: Permissions;
  /** Only the document asks for it: nothing else needs the examples. */
  readonly document: () => Operation;
}

/** All methods that a route serves: HEAD wherever GET is. */
export function methodsOf({ method }: Pick<Route, "method">): readonly string[] {
  return method === "GET" ? ["GET", "HEAD"] : [method];
}

/** Permissions that the chain of every endpoint with a key needs, for authentication and the rate limit. */
export const EDGE_PERMISSIONS = {
  access: { actions: ["GetItem"] },
  limits: { actions: ["UpdateItem"] },
} as const satisfies Permissions;
export type EdgePermissions = typeof EDGE_PERMISSIONS;

/** What a row says unless it says otherwise: a request without query and body, and a response with the status 200. */
const DEFAULTS = { bodyKind: "none", query: z.strictObject({}), body: z.undefined(), status: 200 } as const;

type OwnPermissions<R> = R extends { readonly permissions: infer P } ? P : object;
type PermissionsOf<R> = R extends { readonly public: true } ? OwnPermissions<R> : EdgePermissions & OwnPermissions<R>;

/** What a key needs, which every row says that needs a key. */
type Access = { readonly public: true } | { readonly scopes: readonly KeyScope[] };

/** A row of the route table. It names the permissions that only this endpoint needs. */
export function route<
  const R extends Omit<Route, keyof typeof DEFAULTS | "name" | "permissions"> & Partial<Route> & Access,
>(row: R) {
  const permissions = { ...(row.public !== true && EDGE_PERMISSIONS), ...row.permissions } as PermissionsOf<R>;
  return { ...DEFAULTS, ...row, permissions } as Omit<typeof DEFAULTS, keyof R> &
    Omit<R, "permissions"> & { readonly permissions: typeof permissions };
}

/**
 * Gives each row the name of its function. A row is made when it is asked for, so that a function builds the schemas of
 * its own endpoint alone.
 */
export function routesOf<const M extends Readonly<Record<string, () => Omit<Route, "name">>>>(rows: M) {
  const made: Record<string, Route> = {};
  for (const [key, make] of Object.entries(rows)) {
    let row: Route | undefined;
    Object.defineProperty(made, key, {
      enumerable: true,
      get: () => (row ??= { ...make(), name: functionNameOf(key) }),
    });
  }
  return made as { readonly [N in keyof M]: ReturnType<M[N]> & { readonly name: string } };
}

/** A call that writes nothing and shows what would be written. */
export const DRY_RUN: ScopeException = {
  when: "with `dry_run`",
  isFor: (body) => typeof body === "object" && body !== null && "dry_run" in body && body.dry_run === true,
  scopes: ["read"],
};

/** @throws MissingScopeError unless a key has all the scopes */
export function assertScopes(needed: readonly KeyScope[], granted: readonly KeyScope[]): void {
  const lacking = needed.filter((scope) => !granted.includes(scope));
  if (lacking.length > 0) throw new MissingScopeError(needed, lacking);
}

/**
 * Checks what a key may do: once before the body is read, so that nothing is done for keys that may not make any such
 * call, and once when the body says which call it is.
 * @param body the validated one; undefined before it is read, and for calls without
 * @throws MissingScopeError
 */
export function assertMayCall({ scopes = [], exception }: Route, granted: readonly KeyScope[], body?: unknown): void {
  const mayBeException = exception?.scopes.every((scope) => granted.includes(scope)) ?? false;
  const isException = body === undefined ? mayBeException : exception?.isFor(body);
  assertScopes(exception !== undefined && isException === true ? exception.scopes : scopes, granted);
}
