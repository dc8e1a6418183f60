import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type * as z from "zod";
import type { Route } from "../../functions/routes.ts";
import type { Runtime } from "../aws/runtime.ts";
import type { Organization } from "../organizations/organization.ts";

/** One file of a multipart request. */
export interface UploadedFile {
  readonly filename: string;
  readonly content: Buffer;
}

/** A request that passed the chain: who calls, and what, as the route's schemas gave it. */
export interface Call<R extends Route> {
  readonly organization: Organization;
  /** Path parameters, percent-decoded; not checked to be UUIDs: what is none is simply not found. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: z.output<R["query"]>;
  readonly body: z.output<R["body"]>;
  /** The part `upload[file]`, on routes that take multipart, where the request is multipart. */
  readonly file: UploadedFile | undefined;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requestId: string;
  /** Milliseconds since the epoch when the function must have answered. */
  readonly deadline: number;
}

export interface Reply<R extends Route> {
  /** @default the route's status */
  readonly status?: number;
  readonly body: z.input<R["response"]>;
  readonly headers?: Readonly<Record<string, string>>;
}

export type ApiHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

export declare function endpoint<const R extends Route>(
  route: R,
  runtime: Runtime<R["touches"]>,
  handle: (call: Call<R>) => Promise<Reply<R>>,
): ApiHandler;
