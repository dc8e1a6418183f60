import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import * as z from "zod";
import { packResponse, responseCoding, unpackRequest } from "./content-coding.ts";
import { type GatewayResponses, gatewayResponses } from "./responses.ts";
import { type GatewayRoutes, gatewayRoutes, type Match } from "./routes.ts";
import { type LambdaFunction, PayloadTooLargeError } from "../lambda/lambda-function.ts";
import { LocalStackError } from "../local-stack-error.ts";
import { type HttpResponse, toHttpResponse, toProxyEvent } from "./proxy-event.ts";
import type { ResolvedTemplate } from "../template.ts";

/** The gateway's quotas: https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html. */
const BODY_MAX_BYTES = 10 * 1024 * 1024;
const INTEGRATION_TIMEOUT_MS = 29_000;
/** A body that is too large is read to its end, so that the client gets the response; above this size it is cut off. */
const DRAINED_MAX_BYTES = 256 * 1024 * 1024;
const NO_BODY = Buffer.alloc(0);
/** Longer than clients keep idle connections, so that the gateway closes none on which a request may arrive. */
const KEEP_ALIVE_MS = 75_000;

/** A running gateway. */
export interface Gateway {
  readonly port: number;
  /** Accepts no more requests and waits for those in flight. */
  stop(): Promise<void>;
}

/** Options of the gateway. */
export interface GatewayOptions {
  readonly template: ResolvedTemplate;
  readonly functions: ReadonlyMap<string, LambdaFunction>;
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

async function withinTimeout<T>(work: Promise<T>): Promise<T | "timeout"> {
  const { promise: timeout, resolve } = Promise.withResolvers<"timeout">();
  const timer = setTimeout(resolve, INTEGRATION_TIMEOUT_MS, "timeout");
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
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

/** Compresses a response as the gateway does: if the client asks for it, and the body is not small or compressed. */
function compressed(
  response: HttpResponse,
  acceptEncoding: string | string[] | undefined,
  minimumBytes: number,
): HttpResponse {
  const coding = responseCoding(String(acceptEncoding ?? ""));
  const isCoded = response.headers.some(([name]) => name.toLowerCase() === "content-encoding");
  if (coding === undefined || isCoded || response.body.length < minimumBytes) return response;
  return {
    ...response,
    headers: [...response.headers, ["Content-Encoding", coding]],
    body: packResponse(response.body, coding),
  };
}

/** A response with the body that every error has, to a request that is not passed on. */
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

/** Why Node cannot parse a request, by the codes of its errors. */
const UNREADABLE: Readonly<Record<string, readonly [status: number, reason: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "Request header fields too large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request timeout"],
};

/** Responds to a request that Node cannot parse: its headers are too large, or it is not HTTP. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) return;
  const [status, reason] = UNREADABLE[error.code ?? ""] ?? [400, "Malformed request"];
  const { headers, body } = refusal(status, reason, randomUUID());
  const lines = [...headers, ["Content-Length", String(body.length)], ["Connection", "close"]].map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join("")}\r\n${body.toString()}`);
}

const stageSchema = z.object({ StageName: z.string() });
const restApiSchema = z.object({
  BinaryMediaTypes: z.array(z.string()).default([]),
  MinimumCompressionSize: z.coerce.number().default(Infinity),
});

/** The template's REST API: makes the response to each request, as API Gateway does with proxy integrations. */
class RestApi {
  readonly #functions: ReadonlyMap<string, LambdaFunction>;
  readonly #routes: GatewayRoutes;
  readonly #gatewayResponse: GatewayResponses;
  readonly #stage: string;
  readonly #properties: z.output<typeof restApiSchema>;

  constructor(template: ResolvedTemplate, functions: ReadonlyMap<string, LambdaFunction>) {
    const [stage] = [...template.resourcesOf("AWS::ApiGateway::Stage", stageSchema).values()];
    const [properties] = [...template.resourcesOf("AWS::ApiGateway::RestApi", restApiSchema).values()];
    this.#functions = functions;
    this.#routes = gatewayRoutes(template);
    this.#gatewayResponse = gatewayResponses(template);
    this.#stage = stage?.StageName ?? "";
    this.#properties = properties ?? restApiSchema.parse({});
  }

  async respondTo(message: IncomingMessage, requestId: string): Promise<HttpResponse> {
    const to = { requestId, accept: message.headers.accept };
    if (message.httpVersion === "1.1" && message.headers.host === undefined) {
      return refusal(400, "Malformed request: the header Host is required", requestId);
    }
    const sent = await readBody(message);
    const body = sent && unpackRequest(sent, message.headers["content-encoding"], BODY_MAX_BYTES);
    if (body === "unsupported") return this.#gatewayResponse("UNSUPPORTED_MEDIA_TYPE", to);
    const match = this.#routes.match(message.method ?? "GET", (message.url ?? "/").split("?", 1)[0] ?? "/");
    if (match === undefined) return this.#gatewayResponse("MISSING_AUTHENTICATION_TOKEN", to);
    if (match === "malformed") return this.#gatewayResponse("BAD_REQUEST_PARAMETERS", to);
    if (body === undefined || body === "too large") return this.#gatewayResponse("REQUEST_TOO_LARGE", to);
    return this.#invoke(message, body, match, requestId);
  }

  /** The response to a request that could not be handled, or whose response could not be sent. */
  failure(error: unknown, message: IncomingMessage, requestId: string): HttpResponse {
    const type = error instanceof PayloadTooLargeError ? "REQUEST_TOO_LARGE" : "API_CONFIGURATION_ERROR";
    return this.#gatewayResponse(type, { requestId, accept: message.headers.accept });
  }

  async #invoke(
    message: IncomingMessage,
    body: Buffer,
    { integration, pathParameters }: Match,
    requestId: string,
  ): Promise<HttpResponse> {
    const { BinaryMediaTypes: binaryMediaTypes, MinimumCompressionSize: compressedFrom } = this.#properties;
    const to = { requestId, accept: message.headers.accept };
    const event = toProxyEvent({
      message,
      body,
      ...integration,
      pathParameters,
      requestId,
      stage: this.#stage,
      binaryMediaTypes,
    });
    const target = this.#functions.get(integration.functionName);
    if (target === undefined) return this.#gatewayResponse("API_CONFIGURATION_ERROR", to);
    const invocation = await withinTimeout(target.invoke(JSON.stringify(event), requestId));
    if (invocation === "timeout") return this.#gatewayResponse("INTEGRATION_TIMEOUT", to);
    const response = invocation.ok && toHttpResponse(invocation.payload, message.headers.accept, binaryMediaTypes);
    return response
      ? compressed(response, message.headers["accept-encoding"], compressedFrom)
      : this.#gatewayResponse("API_CONFIGURATION_ERROR", to);
  }
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = error.code === "EADDRINUSE";
      reject(
        new LocalStackError(taken ? `port ${port} is taken: set PORT to another, or to 0 for any` : error.message),
      );
    });
    server.listen(port, "127.0.0.1", resolve);
  });
}

/**
 * Serves the template's REST API on this machine.
 * @throws LocalStackError if the port is in use
 */
export async function startGateway({ template, functions, port }: GatewayOptions): Promise<Gateway> {
  const api = new RestApi(template, functions);
  let stopping = false;
  const serve = async (message: IncomingMessage, serverResponse: ServerResponse): Promise<void> => {
    const requestId = randomUUID();
    const respond = (response: HttpResponse): void => {
      const headers: Header[] = [["x-amzn-RequestId", requestId]];
      // An open connection would delay the stop.
      if (stopping) headers.push(["Connection", "close"]);
      send(serverResponse, response, headers);
    };
    try {
      respond(await api.respondTo(message, requestId));
    } catch (error) {
      if (!serverResponse.headersSent) respond(api.failure(error, message, requestId));
    }
  };

  // A request without Host is refused by the API: Node's own refusal has no body.
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, requireHostHeader: false },
    (message, response) => void serve(message, response),
  );
  server.on("checkExpectation", (_message: IncomingMessage, response: ServerResponse) => {
    const requestId = randomUUID();
    // The client still holds its body back.
    const headers: Header[] = [
      ["x-amzn-RequestId", requestId],
      ["Connection", "close"],
    ];
    send(response, refusal(417, "Expect must be 100-continue", requestId), headers);
  });
  server.on("clientError", refuse);
  server.on("connect", (_message: IncomingMessage, socket: Duplex) => refuse(new Error("this isn't a proxy"), socket));
  await listen(server, port);
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        stopping = true;
        server.close(() => resolve());
      }),
  };
}
