import { randomUUID } from "node:crypto";
import type { APIGatewayProxyEvent } from "aws-lambda";
import type { ApiHandler } from "../../lib/http/middleware.ts";
import { parseJson } from "../../lib/json.ts";
import { type OrganizationChanges, putOrganization } from "../../apps/operator/data/administration.ts";
import { createKey } from "../../apps/operator/data/key-management.ts";
import { type Organization, toOrganization } from "../../lib/organizations/organization.ts";
import type { RegionCode } from "../../lib/regions.ts";
import { lambdaContext } from "./lambda-context.ts";
import { asDocumented } from "./openapi/documented.ts";
import type { TestRuntime } from "./runtime.ts";

/** A runtime's Access table, as an operator uses it. */
export const administrationOf = (runtime: TestRuntime, region: RegionCode = "us") => ({
  dynamodb: runtime.dynamodb,
  environment: runtime.environment,
  clock: runtime.clock,
  region,
});

/** An organization that is in no table. */
export const organizationWith = (values: Partial<Organization> = {}): Organization => ({
  id: "acme",
  rate: 100,
  burst: 200,
  listingShards: 2,
  listingWriteShards: 2,
  cursorSecret: "secret",
  changesFrom: 1,
  ...values,
});

/** Creates an organization with an API key. Its default limits are too high to be reached. */
export const createTestOrganization = async (
  runtime: TestRuntime,
  options: Pick<OrganizationChanges, "rate" | "burst"> & { readonly id?: string } = {},
): Promise<{ readonly organization: Organization; readonly key: string; readonly keyId: string }> => {
  const { id = `test-${randomUUID().slice(0, 8)}`, rate = 10_000, burst = 20_000 } = options;
  const administration = administrationOf(runtime);
  const organization = toOrganization(await putOrganization(administration, id, { rate, burst }));
  const { key, record } = await createKey(administration, id);
  return { organization, key, keyId: record.key_id };
};

/** A request to the API. */
export interface ApiRequest {
  readonly method?: string;
  /** @default the resource with its parameters filled in */
  readonly path?: string;
  /** As in the route table, for example `/v1/work_items/{id}`. */
  readonly resource?: string;
  readonly params?: Readonly<Record<string, string>>;
  /** A list of values is a repeated parameter. */
  readonly query?: Readonly<Record<string, string | number | readonly string[]>>;
  /** An object is sent as JSON, a string unchanged, bytes in base64 as the gateway sends binary types. */
  readonly body?: unknown;
  /** Sent as a bearer token. */
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

const bodyOf = (body: unknown): Pick<APIGatewayProxyEvent, "body" | "isBase64Encoded"> => {
  if (Buffer.isBuffer(body)) return { body: body.toString("base64"), isBase64Encoded: true };
  if (body === undefined || body === null) return { body: null, isBase64Encoded: false };
  return { body: typeof body === "string" ? body : JSON.stringify(body), isBase64Encoded: false };
};

/** The event that API Gateway makes of a request to a REST API with proxy integration. */
export const apiEvent = (request: ApiRequest = {}): APIGatewayProxyEvent => {
  const { method = "GET", resource = "/", params = {}, query = {}, key } = request;
  const path =
    request.path ?? resource.replaceAll(/\{(\w+)\+?\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const headers: Record<string, string> = {
    ...(request.body !== undefined && { "Content-Type": "application/json" }),
    ...(key !== undefined && { Authorization: `Bearer ${key}` }),
  };
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    const same = Object.keys(headers).find((known) => known.toLowerCase() === name.toLowerCase());
    if (same !== undefined) delete headers[same];
    headers[name] = value;
  }
  const values = Object.entries(query).map(
    ([name, value]) => [name, Array.isArray(value) ? value.map(String) : [String(value)]] as const,
  );
  return {
    resource,
    path,
    httpMethod: method,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    queryStringParameters: values.length ? Object.fromEntries(values.map(([name, list]) => [name, list.at(-1)])) : null,
    multiValueQueryStringParameters: values.length ? Object.fromEntries(values) : null,
    pathParameters: Object.keys(params).length ? { ...params } : null,
    stageVariables: null,
    requestContext: {
      accountId: "123456789012",
      apiId: "test",
      authorizer: null,
      httpMethod: method,
      identity: { sourceIp: "127.0.0.1" } as APIGatewayProxyEvent["requestContext"]["identity"],
      path,
      protocol: "HTTP/1.1",
      requestId: randomUUID(),
      requestTimeEpoch: 0,
      resourceId: "test",
      resourcePath: resource,
      stage: "test",
    },
    ...bodyOf(request.body),
  };
};

/** A body of which no document says what it holds. */
interface OpenBody {
  readonly error?: string;
  readonly data?: never;
  readonly [key: string]: unknown;
}

/** A response of the API. */
export interface ApiResponse<B = OpenBody> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as text. */
  readonly text: string;
  /** The parsed body; an empty object if there is none, or if it is no JSON. */
  readonly body: B;
}

/** Invokes a handler with a request, as the gateway does. The response must be as the OpenAPI document says. */
export const call = async (handler: ApiHandler, request: ApiRequest): Promise<ApiResponse> => {
  const event = apiEvent(request);
  const { statusCode, headers, body } = asDocumented(event, await handler(event, lambdaContext()));
  const isJson = body !== "" && headers?.["content-type"] !== "text/csv; charset=utf-8";
  return {
    status: statusCode,
    headers: headers as Record<string, string>,
    text: body,
    body: (isJson ? parseJson(body) : {}) as OpenBody,
  };
};
