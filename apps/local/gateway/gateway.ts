import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "@aws-lambda-powertools/logger";
import type { APIGatewayProxyResult } from "aws-lambda";
import { acceptsProblemJson, PROBLEM_JSON } from "@work-items/lib/http/error-table.ts";
import {
  GATEWAY_RESPONSES,
  gatewayHeaders,
  type GatewayResponseType,
  gatewayTemplates,
} from "../../../infra/gateway-responses.ts";
import { COMPRESSED_FROM_BYTES } from "../../../infra/limits.ts";
import type { Invoke } from "../functions.ts";
import { CommandError } from "@work-items/terminal/command-line.ts";
import { packResponse, responseCoding, unpackRequest } from "./content-coding.ts";
import { type HttpResponse, toHttpResponse, toProxyEvent } from "./proxy-event.ts";
import { createRouter, type Endpoint } from "./router.ts";

/** The gateway's quotas: https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html. */
const BODY_MAX_BYTES = 10 * 1024 * 1024;
/** Of request line and headers together. */
const HEAD_MAX_BYTES = 10_240;
/** The most bytes of an event or a result (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html). */
const PAYLOAD_MAX_BYTES = 6 * 1024 * 1024;
/** A body of fewer characters is below that in any encoding. */
const BODY_MEASURED_FROM = 1_000_000;
/** A body that is too large is read to its end, so that the client gets the response; above this size it is cut off. */
const DRAINED_MAX_BYTES = 256 * 1024 * 1024;
const NO_BODY = Buffer.alloc(0);
/** Longer than clients keep idle connections, so that a connection isn't closed while a request arrives on it. */
const KEEP_ALIVE_MS = 75_000;

export interface Gateway {
  readonly port: number;
  /** Accepts no more requests and waits for those in flight. */
  stop(): Promise<void>;
}

export interface GatewayOptions {
  readonly endpoints: readonly Endpoint<Invoke>[];
  /** Serves all other methods and paths. */
  readonly unknown: Invoke;
  /** Origins of the pages that may call the API. */
  readonly allowedOrigins: readonly string[];
  readonly log: Pick<Logger, "error">;
  /** 0 selects any free port. */
  readonly port: number;
}

/** Reads a body to its end, if there is one. @returns undefined if it is larger than the gateway accepts */
async function readBody(message: IncomingMessage): Promise<Buffer | undefined> {
  const { "content-length": length, "transfer-encoding": coding } = message.headers;
  if (coding === undefined && Number(length ?? 0) === 0) return NO_BODY;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= BODY_MAX_BYTES) chunks.push(chunk);
    else chunks.length = 0;
    if (size > DRAINED_MAX_BYTES) message.destroy();
  }
  return size > BODY_MAX_BYTES ? undefined : Buffer.concat(chunks);
}

/** Whether Lambda would refuse an event or a result. Only a large body is measured, since that takes time. */
function isTooLarge(payload: { readonly body: string | null }): boolean {
  if ((payload.body ?? "").length < BODY_MEASURED_FROM) return false;
  return Buffer.byteLength(JSON.stringify(payload)) > PAYLOAD_MAX_BYTES;
}

type Header = readonly [string, string];

/** Whether a response has no body, whatever its function returned (RFC 9110 §6.4.1). */
function isBodiless(method: string | undefined, status: number): boolean {
  return method === "HEAD" || status === 204 || status === 304;
}

function send(to: ServerResponse, { status, headers, body }: HttpResponse, ownHeaders: readonly Header[]): void {
  if (to.destroyed) return;
  const length: Header[] = isBodiless(to.req.method, status) ? [] : [["Content-Length", String(body.length)]];
  to.writeHead(status, [...headers, ...ownHeaders, ...length].flat());
  to.end(body);
}

/** Compresses a response as the gateway does: if the client asks for it and the body is neither small nor compressed. */
function compressed(response: HttpResponse, acceptEncoding: string | string[] | undefined): HttpResponse {
  const coding = responseCoding(String(acceptEncoding ?? ""));
  const isCoded = response.headers.some(([name]) => name.toLowerCase() === "content-encoding");
  if (coding === undefined || isCoded || response.body.length < COMPRESSED_FROM_BYTES) return response;
  return {
    ...response,
    headers: [...response.headers, ["Content-Encoding", coding]],
    body: packResponse(response.body, coding),
  };
}

/** The response to a request that isn't passed on, with the body that every error has. */
function refusal(status: number, error: string, requestId: string): HttpResponse {
  return {
    status,
    headers: [
      ["Content-Type", "application/json"],
      ["x-request-id", requestId],
    ],
    body: Buffer.from(JSON.stringify({ error })),
  };
}

/** Responses by the code of Node's error. */
const UNREADABLE: Readonly<Record<string, readonly [status: number, reason: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "Request header fields too large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request timeout"],
};

/** Responds to a request that Node can't parse: its headers are too large, or it isn't HTTP. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) return;
  const [status, reason] = UNREADABLE[error.code ?? ""] ?? [400, "Malformed request"];
  const { headers, body } = refusal(status, reason, randomUUID());
  const lines = [...headers, ["Content-Length", String(body.length)], ["Connection", "close"]].map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join("")}\r\n${body.toString()}`);
}

/** Makes the response to each request, as API Gateway does with proxy integrations. */
function createRestApi({ endpoints, unknown, allowedOrigins, log }: GatewayOptions) {
  const match = createRouter(endpoints);
  /** The gateway's own response of a type, in the media type that the caller accepts. */
  const refuseAs = (type: GatewayResponseType, { headers }: IncomingMessage, requestId: string): HttpResponse => {
    const templates = gatewayTemplates(type);
    const isProblem = acceptsProblemJson(headers.accept) && PROBLEM_JSON in templates;
    const mediaType = isProblem ? PROBLEM_JSON : "application/json";
    return {
      status: Number(GATEWAY_RESPONSES[type].statusCode),
      headers: [
        ["Content-Type", mediaType],
        ["x-request-id", requestId],
        ...Object.entries(gatewayHeaders(type, allowedOrigins)),
      ],
      body: Buffer.from((templates[mediaType] ?? "").replaceAll("$context.requestId", requestId)),
    };
  };
  /** The response to a request whose function failed, or whose response is too large. */
  const failure = (message: IncomingMessage, requestId: string): HttpResponse =>
    refuseAs("DEFAULT_5XX", message, requestId);

  const respondTo = async (message: IncomingMessage, requestId: string): Promise<HttpResponse> => {
    if (message.httpVersion === "1.1" && message.headers.host === undefined) {
      return refusal(400, "Malformed request: the header Host is required", requestId);
    }
    const sent = await readBody(message);
    const body = sent && unpackRequest(sent, message.headers["content-encoding"], BODY_MAX_BYTES);
    if (body === "unsupported") return refuseAs("UNSUPPORTED_MEDIA_TYPE", message, requestId);
    const matched = match(message.method ?? "GET", (message.url ?? "/").split("?", 1)[0] ?? "/");
    if (matched === "malformed") return refuseAs("BAD_REQUEST_PARAMETERS", message, requestId);
    if (body === undefined || body === "too large") return refuseAs("REQUEST_TOO_LARGE", message, requestId);
    const { target = unknown, ...route } = matched;
    const event = toProxyEvent({ message, body, requestId, ...route });
    if (isTooLarge(event)) return refuseAs("REQUEST_TOO_LARGE", message, requestId);
    const result = (await target(event, requestId)) as APIGatewayProxyResult;
    if (!isTooLarge(result)) return compressed(toHttpResponse(result), message.headers["accept-encoding"]);
    log.error("response refused", { path: route.resource, request_id: requestId, error: "above 6 MB" });
    return failure(message, requestId);
  };
  return { respondTo, failure };
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = error.code === "EADDRINUSE";
      reject(new CommandError(taken ? `port ${port} is taken: set PORT to another, or to 0 for any` : error.message));
    });
    server.listen(port, "127.0.0.1", resolve);
  });
}

/**
 * Serves the API on this machine.
 * @throws CommandError if the port is in use
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const api = createRestApi(options);
  let stopping = false;
  const serve = async (message: IncomingMessage, serverResponse: ServerResponse): Promise<void> => {
    const requestId = randomUUID();
    // In absolute form, the target names the host too: https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2
    message.url = message.url?.replace(/^https?:\/\/[^/?]*\/?/i, "/") ?? "/";
    const respond = (response: HttpResponse): void => {
      const headers: Header[] = [["x-amzn-RequestId", requestId]];
      // An open connection would delay the stop.
      if (stopping) headers.push(["Connection", "close"]);
      send(serverResponse, response, headers);
    };
    try {
      respond(await api.respondTo(message, requestId));
    } catch {
      // The function's error is in its log.
      if (!serverResponse.headersSent) respond(api.failure(message, requestId));
    }
  };

  // The API refuses a request without Host itself, since Node's refusal has no body.
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, requireHostHeader: false, maxHeaderSize: HEAD_MAX_BYTES },
    (message, response) => void serve(message, response),
  );
  server.on("checkExpectation", (_message: IncomingMessage, response: ServerResponse) => {
    const requestId = randomUUID();
    // The connection must close, since the client hasn't sent its body.
    const headers: Header[] = [
      ["x-amzn-RequestId", requestId],
      ["Connection", "close"],
    ];
    send(response, refusal(417, "Expect must be 100-continue", requestId), headers);
  });
  server.on("clientError", refuse);
  server.on("connect", (_message: IncomingMessage, socket: Duplex) => refuse(new Error("this isn't a proxy"), socket));
  await listen(server, options.port);
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        stopping = true;
        server.close(() => resolve());
      }),
  };
}
