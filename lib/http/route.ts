import type * as z from "zod";
import type { Permissions } from "../runtime/permissions.ts";

/** How the body of a request is read before the schema sees it. */
type BodyKind = "none" | "json" | "multipart-or-json";

/** One endpoint: the row that feeds the deployment, the local gateway, the OpenAPI document and the tests. */
export interface Route {
  /** Also the file name of the Lambda in `functions/`. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** API Gateway resource path. */
  readonly path: string;
  readonly summary: string;
  readonly bodyKind: BodyKind;
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  readonly response: z.ZodType;
  /** Status of the ordinary success. */
  readonly status: 200 | 201 | 202;
  /** Beyond the contract. */
  readonly extension?: boolean;
  readonly permissions: Permissions;
}

/** What the chain before every handler takes: who calls, and how often. */
export const EDGE_PERMISSIONS = {
  access: { actions: ["GetItem"] },
  limits: { actions: ["UpdateItem"] },
} as const satisfies Permissions;
export type EdgePermissions = typeof EDGE_PERMISSIONS;
