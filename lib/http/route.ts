import * as z from "zod";
import { functionNameOf, type Permissions } from "../aws/permissions.ts";
import type { KeyScope } from "../organizations/api-key.ts";
import type { Guard } from "./scopes.ts";

/** How the body of a request is parsed before the schema validates it. */
type BodyKind = "none" | "json" | "optional-json" | "multipart-or-json";

/** A link from a response's body to another operation. The parameters are runtime expressions. */
interface Link {
  /** The name of its row. */
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly description: string;
}

/** What the API's document says about an endpoint and its row doesn't. */
export interface Operation {
  readonly description: string;
  /** Value of the path parameter `id` in examples. */
  readonly id?: string;
  /** The example of a JSON body. */
  readonly body?: object;
  /** Request headers that this endpoint reads, in addition to those that all do. */
  readonly requestHeaders?: readonly ("Idempotency-Key" | "If-Match")[];
  /** Content of the response with the row's status. */
  readonly response: string;
  /** Content of other successful responses, by status. They have the same body. */
  readonly otherResponses?: Readonly<Record<number, string>>;
  readonly example: object | string;
  /** Headers of successful responses. `Retry-After-Job` is `Retry-After` in responses that show a job. */
  readonly headers?: readonly ("Content-Disposition" | "ETag" | "Retry-After-Job")[];
  readonly links?: Readonly<Record<string, Link>>;
  /** Errors in addition to those that follow from the row. */
  readonly errors?: readonly (409 | 410 | 412)[];
}

/** One endpoint. The deployment, the local gateway, the OpenAPI document and the tests are derived from it. */
export interface Route extends Guard {
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
  /** Fields other than the file in a multipart body. */
  readonly fields?: z.ZodType;
  readonly response: z.ZodType;
  /** Media type of a successful response whose body is a text. @default JSON */
  readonly contentType?: string;
  /** Status of a successful response, unless the handler sets another. */
  readonly status: 200 | 201 | 202;
  /**
   * Removes from a response what a key without the scope `read` hasn't sent itself. Required if calls without `read` can
   * show stored data.
   * @param request the validated body of the call
   */
  withoutRead?(response: object, request: unknown): object;
  /** Whether the endpoint isn't part of the contract. */
  readonly extension?: boolean;
  /** Whether it needs no API key and has no rate limit. It returns no organization's data. */
  readonly public?: true;
  readonly permissions: Permissions;
  /** Called only for the document: nothing else needs the examples. */
  readonly document: () => Operation;
}

/** All methods that a route serves: GET includes HEAD. */
export function methodsOf({ method }: Pick<Route, "method">): readonly string[] {
  return method === "GET" ? ["GET", "HEAD"] : [method];
}

/** Permissions that every endpoint with a key needs, for authentication and the rate limit. */
export const EDGE_PERMISSIONS = {
  access: { actions: ["GetItem"] },
  limits: { actions: ["UpdateItem"] },
} as const satisfies Permissions;
export type EdgePermissions = typeof EDGE_PERMISSIONS;

/** Defaults of a row: a request without query and body, and a response with the status 200. */
const DEFAULTS = { bodyKind: "none", query: z.strictObject({}), body: z.undefined(), status: 200 } as const;

type OwnPermissions<R> = R extends { readonly permissions: infer P } ? P : object;
type PermissionsOf<R> = R extends { readonly public: true } ? OwnPermissions<R> : EdgePermissions & OwnPermissions<R>;

/** Every row is public or names the scopes that its keys need. */
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
 * Gives each row the name of its function. Rows are built lazily, so that a function builds only its own endpoint's
 * schemas.
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
