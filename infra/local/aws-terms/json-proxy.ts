import { Agent, createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { sendWire, type WireResponse } from "./damage.ts";

/** A body of DynamoDB's or SQS's JSON protocol. */
export type JsonBody = Readonly<Record<string, unknown>>;

/** A response of the JSON protocol. */
export interface JsonResponse {
  readonly status: number;
  readonly body: JsonBody;
}

/** A request of the JSON protocol. */
export interface JsonRequest {
  /** For example `PutItem`. */
  readonly operation: string;
  readonly input: JsonBody;
  /** Sends the request, or another one in its place, to the engine. */
  readonly forward: (input?: JsonBody, operation?: string) => Promise<JsonResponse>;
}

/** A response that doesn't follow the protocol, instead of one that does. */
interface DamagedResponse {
  readonly damage: (response: WireResponse) => WireResponse;
  readonly response: JsonResponse;
}

/** Handles a request. "no response" ends the connection without one. */
export type JsonHandler = (request: JsonRequest) => Promise<JsonResponse | DamagedResponse | "no response">;

/** An error in the JSON protocol. */
export function jsonError(status: number, type: string, message: string, more: JsonBody = {}): JsonResponse {
  return {
    status,
    body: { __type: type, message, ...more },
  };
}

/** A running proxy. */
export interface Proxy {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Listens on a free port of the loopback address. */
export async function listen(
  serve: (message: IncomingMessage, response: ServerResponse) => void,
  onStop: () => void,
): Promise<Proxy> {
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 75_000 }, serve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      onStop();
    },
  };
}

/** Starts a proxy for a service with the JSON protocol, whose requests name their operation in `X-Amz-Target`. */
export function startJsonProxy(engineEndpoint: string, handle: JsonHandler): Promise<Proxy> {
  const agent = new Agent({ keepAlive: true });
  const { hostname: host, port } = new URL(engineEndpoint);

  const send = async (message: IncomingMessage, target: string, body: string): Promise<JsonResponse> => {
    const received = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { ...message.headers, "x-amz-target": target, "content-length": Buffer.byteLength(body) };
      httpRequest({ agent, host, port, method: message.method, path: message.url, headers })
        .once("response", resolve)
        .once("error", reject)
        .end(body);
    });
    const text = (await buffer(received)).toString();
    return { status: received.statusCode ?? 500, body: text === "" ? {} : (JSON.parse(text) as JsonBody) };
  };

  const serve = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const text = (await buffer(message)).toString();
      const [prefix = "", operation = ""] = String(message.headers["x-amz-target"]).split(".");
      const input = JSON.parse(text) as JsonBody;
      const handled = await handle({
        operation,
        input,
        forward: (other = input, otherOperation = operation) =>
          send(message, `${prefix}.${otherOperation}`, other === input ? text : JSON.stringify(other)),
      });
      if (handled === "no response") response.destroy();
      else {
        const { status, body } = "damage" in handled ? handled.response : handled;
        const type = message.headers["content-type"] ?? "application/x-amz-json-1.0";
        const wire = { status, headers: { "content-type": type }, body: Buffer.from(JSON.stringify(body)) };
        sendWire(response, "damage" in handled ? handled.damage(wire) : wire);
      }
    } catch {
      // The engine has ended, or the client has gone.
      response.destroy();
    }
  };
  return listen(
    (message, response) => void serve(message, response),
    () => agent.destroy(),
  );
}
