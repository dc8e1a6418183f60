import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { type Proxy, type SendToEngine, startEngineProxy } from "./engine-proxy.ts";
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

async function forward(
  message: IncomingMessage,
  target: string,
  body: string,
  send: SendToEngine,
): Promise<JsonResponse> {
  const length = String(Buffer.byteLength(body));
  const headers = { ...message.headers, "x-amz-target": target, "content-length": length };
  const received = await send(message, { headers, body });
  const text = (await buffer(received)).toString();
  return { status: received.statusCode ?? 500, body: text === "" ? {} : (JSON.parse(text) as JsonBody) };
}

/** Starts a proxy for a service with the JSON protocol, whose requests name their operation in `X-Amz-Target`. */
export function startJsonProxy(engineEndpoint: string, handle: JsonHandler): Promise<Proxy> {
  return startEngineProxy(engineEndpoint, async (message, response, send) => {
    const text = (await buffer(message)).toString();
    const [prefix = "", operation = ""] = String(message.headers["x-amz-target"]).split(".");
    const input = JSON.parse(text) as JsonBody;
    const handled = await handle({
      operation,
      input,
      forward: (other = input, otherOperation = operation) =>
        forward(message, `${prefix}.${otherOperation}`, other === input ? text : JSON.stringify(other), send),
    });
    if (handled === "no response") {
      response.destroy();
      return;
    }
    const { status, body } = "damage" in handled ? handled.response : handled;
    const type = message.headers["content-type"] ?? "application/x-amz-json-1.0";
    const wire = { status, headers: { "content-type": type }, body: Buffer.from(JSON.stringify(body)) };
    sendWire(response, "damage" in handled ? handled.damage(wire) : wire);
  });
}
