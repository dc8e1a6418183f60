import { type IncomingMessage, request as httpRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { startGateway } from "../../../../apps/local/gateway/gateway.ts";
import type { Invoke } from "../../../../apps/local/functions.ts";

/** Responds with the event that it got. */
export const echoed = (event: APIGatewayProxyEvent) => ({ statusCode: 200, body: JSON.stringify(event) });
/** What the gateway has logged. */
export const logged: unknown[] = [];

/** Starts an API of a few methods. @param handler the function behind the items' methods */
export const start = (handler: (event: APIGatewayProxyEvent) => unknown = echoed, allowedOrigins: string[] = []) => {
  const echo: Invoke = async (event) => handler(event as APIGatewayProxyEvent);
  return startGateway({
    endpoints: [
      { method: "GET", path: "/items/{id}", target: echo },
      { method: "HEAD", path: "/items/{id}", target: echo },
      { method: "POST", path: "/items", target: echo },
      { method: "POST", path: "/items/batch", target: async () => ({ statusCode: 200, body: '"batch"' }) },
      { method: "GET", path: "/items/{id}/events", target: echo },
    ],
    unknown: async (event) => ({
      statusCode: 405,
      body: JSON.stringify((event as APIGatewayProxyEvent).resource),
    }),
    allowedOrigins,
    log: { error: (...line) => void logged.push(line) },
    port: 0,
  });
};

/** Sends a request by Node's HTTP client, so that path and header names are not changed. */
export const sendTo = async (
  base: string,
  path: string,
  options: { method?: string; headers?: string[]; body?: Buffer } = {},
) => {
  const { host, port } = new URL(base);
  const sent = httpRequest({
    host: host.split(":")[0],
    port,
    path,
    method: options.method ?? "GET",
    headers: options.headers ?? ["Host", host],
  });
  const received = new Promise<Awaited<ReturnType<typeof read>>>((resolve, reject) => {
    sent.once("response", (response) => void read(response).then(resolve)).once("error", reject);
  });
  sent.end(options.body);
  return received;
};
const read = async (response: IncomingMessage) => ({
  status: response.statusCode,
  headers: response.headers,
  body: await buffer(response),
});
