import type { Client } from "openapi-fetch";
import type { operations, paths } from "./api.ts";

/** Sends requests to every endpoint, with the types of the document. */
export type Http = Client<paths>;

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** The filters of a list. */
export type QueryOf<Name extends keyof operations> = Omit<
  NonNullable<operations[Name]["parameters"]["query"]>,
  "cursor"
>;

/** The path parameter of an endpoint. */
export function path(id: string) {
  return { path: { id } };
}
