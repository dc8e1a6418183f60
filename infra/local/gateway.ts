import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import * as z from "zod";
import { gatewayResponses } from "./gateway-response.ts";
import { gatewayRoutes } from "./gateway-routes.ts";
import { type LambdaFunction, PayloadTooLargeError } from "./lambda-function.ts";
import { LocalStackError } from "./local-stack-error.ts";
import { type HttpResponse, toHttpResponse, toProxyEvent } from "./proxy-event.ts";
import type { ResolvedTemplate } from "./template.ts";

/** Bytes of a request's body, and the wait for a function (https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html). */
const BODY_MAX_BYTES = 10 * 1024 * 1024;
const INTEGRATION_TIMEOUT_MS = 29_000;
/** A body that is too large is read to its end, so that the answer arrives; one larger than this is cut off. */
const DRAINED_MAX_BYTES = 256 * 1024 * 1024;
/** Longer than clients keep idle connections, so that they close them and not we under their request. */
const KEEP_ALIVE_MS = 75_000;

export interface Gateway {
  readonly port: number;
  /** Takes no more requests and waits for those in flight. */
  stop(): Promise<void>;
}

export interface GatewayOptions {
  readonly template: ResolvedTemplate;
  readonly functions: ReadonlyMap<string, LambdaFunction>;
  /** 0 takes any free one. */
  readonly port: number;
}

/** @returns undefined where the body is larger than the gateway takes; it has been read to its end then */
const readBody = async (message: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= BODY_MAX_BYTES) chunks.push(chunk);
    else chunks.length = 0;
    if (size > DRAINED_MAX_BYTES) message.destroy();
  }
  return size > BODY_MAX_BYTES ? undefined : Buffer.concat(chunks);
};

const withinTimeout = async <T>(work: Promise<T>): Promise<T | "timeout"> => {
  const { promise: late, resolve } = Promise.withResolvers<"timeout">();
  const timer = setTimeout(resolve, INTEGRATION_TIMEOUT_MS, "timeout");
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

type Header = readonly [string, string];

const send = (response: ServerResponse, { status, headers, body }: HttpResponse, ours: readonly Header[]): void => {
  if (response.destroyed) return;
  const length: Header = ["Content-Length", String(body.length)];
  response.writeHead(status, [...headers, ...ours, length].flat());
  response.end(body);
};

/** What Node refuses to parse: too large a header, or no HTTP at all. */
const refuse = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (!socket.writable) return;
  const [status, reason] =
    error.code === "HPE_HEADER_OVERFLOW" ? [431, "Request header fields too large"] : [400, "Malformed request"];
  const body = JSON.stringify({ error: reason });
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
};

const stageSchema = z.object({ StageName: z.string() });
const restApiSchema = z.object({ BinaryMediaTypes: z.array(z.string()).default([]) });

/**
 * Serves the template's REST API on this machine, as API Gateway does with proxy integrations.
 * @throws LocalStackError where the port is taken
 */
export const startGateway = async ({ template, functions, port }: GatewayOptions): Promise<Gateway> => {
  const routes = gatewayRoutes(template);
  const respond = gatewayResponses(template);
  const [stage] = [...template.resourcesOf("AWS::ApiGateway::Stage", stageSchema).values()];
  const [restApi] = [...template.resourcesOf("AWS::ApiGateway::RestApi", restApiSchema).values()];
  const binaryMediaTypes = restApi?.BinaryMediaTypes ?? [];

  const answer = async (message: IncomingMessage, requestId: string): Promise<HttpResponse> => {
    const body = await readBody(message);
    const match = routes.match(message.method ?? "GET", (message.url ?? "/").split("?", 1)[0] ?? "/");
    if (match === undefined) return respond("MISSING_AUTHENTICATION_TOKEN", requestId);
    if (match === "malformed") return respond("BAD_REQUEST_PARAMETERS", requestId);
    if (body === undefined) return respond("REQUEST_TOO_LARGE", requestId);
    const { integration, pathParameters } = match;
    const event = toProxyEvent({
      message,
      body,
      ...integration,
      pathParameters,
      requestId,
      stage: stage?.StageName ?? "",
      binaryMediaTypes,
    });
    const target = functions.get(integration.functionName);
    if (target === undefined) return respond("API_CONFIGURATION_ERROR", requestId);
    const invocation = await withinTimeout(target.invoke(JSON.stringify(event), requestId));
    if (invocation === "timeout") return respond("INTEGRATION_TIMEOUT", requestId);
    const answered = invocation.ok && toHttpResponse(invocation.payload, message.headers.accept, binaryMediaTypes);
    return answered || respond("API_CONFIGURATION_ERROR", requestId);
  };

  let stopping = false;
  const serve = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const requestId = randomUUID();
    const answerWith = (answered: HttpResponse): void => {
      const ours: Header[] = [["x-amzn-RequestId", requestId]];
      // A connection that stayed open would hold up the stop.
      if (stopping) ours.push(["Connection", "close"]);
      send(response, answered, ours);
    };
    try {
      answerWith(await answer(message, requestId));
    } catch (error) {
      const type = error instanceof PayloadTooLargeError ? "REQUEST_TOO_LARGE" : "API_CONFIGURATION_ERROR";
      if (!response.headersSent) answerWith(respond(type, requestId));
    }
  };

  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS },
    (message, response) => void serve(message, response),
  );
  server.on("clientError", refuse);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = error.code === "EADDRINUSE";
      reject(
        new LocalStackError(taken ? `port ${port} is taken: set PORT to another, or to 0 for any` : error.message),
      );
    });
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        stopping = true;
        server.close(() => resolve());
      }),
  };
};
