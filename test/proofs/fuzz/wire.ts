import { routes } from "../../../functions/routes.ts";
import type { Route } from "../../../lib/http/route.ts";
import type { RouteName } from "../../support/handlers.ts";
import type { ApiRequest } from "../../support/organization.ts";
import type { DescribedRequest, FormPart, Reference } from "./requests.ts";

/** A request as it is sent. */
export interface WireRequest {
  readonly name: RouteName;
  readonly isHead: boolean;
  readonly id: string | undefined;
  readonly query: Readonly<Record<string, readonly string[]>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/** What responses have named so far. */
export interface Known {
  /** Ids by the path under which they are, such as `/v1/work_items`. */
  readonly ids: Record<string, string[]>;
  /** Cursors by the endpoint that takes them. */
  readonly cursors: Partial<Record<RouteName, string>>;
  /** Entity tags by id. */
  readonly tags: Record<string, string>;
}

/** So few that requests meet at the same things. */
const REMEMBERED_MAX = 30;
const UNKNOWN_ID = "6f1c0b9e-0000-8000-8000-000000000000";
const BOUNDARY = "----boundary";

/** The path under which an endpoint's ids are. */
export const roomOf = (name: RouteName): string => routes[name].path.replace(/\/\{id\}.*$/, "");

/** Remembers an id, and forgets the oldest of too many. */
export const remember = (known: Known, room: string, id: string): void => {
  const ids = (known.ids[room] ??= []);
  if (ids.includes(id)) return;
  ids.push(id);
  if (ids.length > REMEMBERED_MAX) ids.shift();
};

const idOf = (known: Known, name: RouteName, { index }: Reference): string => {
  const ids = known.ids[roomOf(name)] ?? [];
  return index % 8 === 0 ? UNKNOWN_ID : (ids[index % Math.max(ids.length, 1)] ?? UNKNOWN_ID);
};

const disposition = ({ name, filename }: FormPart): string =>
  `content-disposition: form-data; name="${name}"${filename === undefined ? "" : `; filename="${filename}"`}`;

const formOf = (parts: readonly FormPart[]): Buffer =>
  Buffer.concat([
    ...parts.flatMap((part) => [
      Buffer.from(`--${BOUNDARY}\r\n${disposition(part)}\r\n\r\n`),
      Buffer.from(part.content as string),
      Buffer.from("\r\n"),
    ]),
    Buffer.from(`--${BOUNDARY}--\r\n`),
  ]);

const bodyOf = ({ body }: DescribedRequest): Pick<WireRequest, "body"> & { readonly type?: string } => {
  if (body.kind === "none") return { body: undefined };
  if (body.kind === "form") return { body: formOf(body.parts), type: `multipart/form-data; boundary=${BOUNDARY}` };
  return { body: Buffer.from(JSON.stringify(body.value) ?? ""), type: "application/json" };
};

/** The request with the ids, cursors and tags of earlier responses. */
export const toWire = (request: DescribedRequest, known: Known): WireRequest => {
  const { name } = request;
  const route: Route = routes[name];
  const id = request.id && idOf(known, name, request.id);
  const tag = id === undefined ? undefined : known.tags[id];
  const place = request.follows && known.cursors[name];
  const query: Readonly<Record<string, unknown>> = {
    ...request.query,
    ...(request.follows !== undefined && place !== undefined && { [request.follows]: place }),
  };
  const { body, type } = bodyOf(request);
  return {
    name,
    isHead: request.isHead,
    id,
    query: Object.fromEntries(Object.entries(query).map(([key, value]) => [key, [value].flat().map(String)])),
    headers: {
      ...(type !== undefined && { "Content-Type": type }),
      ...(request.wantsProblem && { Accept: "application/problem+json" }),
      ...(request.knowsTag &&
        tag !== undefined &&
        route.method !== "POST" && { [route.method === "GET" ? "If-None-Match" : "If-Match"]: tag }),
      ...request.headers,
    },
    body,
  };
};

/** The request for the test client. */
export const toApiRequest = ({ name, isHead, id, query, headers, body }: WireRequest): ApiRequest => ({
  ...(isHead && { method: "HEAD" }),
  resource: routes[name].path,
  path: routes[name].path.replace("{id}", () => id ?? ""),
  params: id === undefined ? {} : { id },
  query,
  headers,
  ...(body !== undefined && { body }),
});
