import type { IncomingMessage } from "node:http";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { ACCOUNT } from "../platform.ts";

const API_ID = "local";
const STAGE = "local";

/** A request that the gateway has read and matched to a method. */
export interface RoutedRequest {
  readonly message: IncomingMessage;
  readonly body: Buffer;
  /** Resource path, for example `/v1/work_items/{id}`. */
  readonly resource: string;
  /** Percent-decoded. */
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly requestId: string;
}

/** Values by name, in their original order. */
function group(pairs: Iterable<readonly [string, string]>): Record<string, string[]> {
  const groups = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries([...groups].map(([name, found]) => [name, found.map(([, value]) => value)]));
}

function lastOf(groups: Readonly<Record<string, string[]>>): Record<string, string> {
  return Object.fromEntries(Object.entries(groups).map(([name, values]) => [name, values.at(-1) ?? ""]));
}

function orNull<T extends object>(value: T): T | null {
  return Object.keys(value).length === 0 ? null : value;
}

function headersOf(message: IncomingMessage, sourceIp: string): Record<string, string[]> {
  const raw = message.rawHeaders;
  const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ""] as const] : []));
  return group([
    ...pairs,
    ["X-Forwarded-For", sourceIp],
    ["X-Forwarded-Port", String(message.socket.localPort)],
    ["X-Forwarded-Proto", "http"],
  ]);
}

/** `22/Nov/2026:20:09:19 +0000` of `Sun, 22 Nov 2026 20:09:19 GMT`. */
function requestTime(at: Date): string {
  const [, day, month, year, time] = at.toUTCString().split(" ");
  return `${day}/${month}/${year}:${time} +0000`;
}

/** The event that API Gateway's REST proxy integration sends to a function, with every body in base64. */
export function toProxyEvent(request: RoutedRequest): APIGatewayProxyEvent {
  const { message, body, resource, requestId } = request;
  const [path = "/", search = ""] = (message.url ?? "/").split(/\?(.*)/s, 2);
  const sourceIp = (message.socket.remoteAddress ?? "127.0.0.1").replace(/^::ffff:/, "");
  const headers = headersOf(message, sourceIp);
  const query = group(new URLSearchParams(search));
  const now = new Date();
  return {
    resource,
    path,
    httpMethod: message.method ?? "GET",
    headers: lastOf(headers),
    multiValueHeaders: headers,
    queryStringParameters: orNull(lastOf(query)),
    multiValueQueryStringParameters: orNull(query),
    pathParameters: orNull({ ...request.pathParameters }),
    stageVariables: null,
    requestContext: {
      accountId: ACCOUNT,
      apiId: API_ID,
      authorizer: null,
      domainName: message.headers.host ?? "localhost",
      domainPrefix: API_ID,
      extendedRequestId: requestId,
      httpMethod: message.method ?? "GET",
      identity: {
        accessKey: null,
        accountId: null,
        apiKey: null,
        apiKeyId: null,
        caller: null,
        clientCert: null,
        cognitoAuthenticationProvider: null,
        cognitoAuthenticationType: null,
        cognitoIdentityId: null,
        cognitoIdentityPoolId: null,
        principalOrgId: null,
        sourceIp,
        user: null,
        userAgent: message.headers["user-agent"] ?? null,
        userArn: null,
      },
      // Like a custom domain name, this gateway serves the stage without its name in the path.
      path,
      protocol: `HTTP/${message.httpVersion}`,
      requestId,
      requestTime: requestTime(now),
      requestTimeEpoch: now.getTime(),
      resourceId: resource,
      resourcePath: resource,
      stage: STAGE,
    },
    body: body.length === 0 ? null : body.toString("base64"),
    isBase64Encoded: body.length > 0,
  };
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

/** Turns a function's result into a response, as the gateway does. */
export function toHttpResponse({ statusCode, headers, body, isBase64Encoded }: APIGatewayProxyResult): HttpResponse {
  const own = Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)] as const);
  const hasType = own.some(([name]) => name.toLowerCase() === "content-type");
  return {
    status: statusCode,
    headers: hasType ? own : [["Content-Type", "application/json"], ...own],
    body: Buffer.from(body, isBase64Encoded === true ? "base64" : "utf8"),
  };
}
