import { Agent, createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A running proxy. */
export interface Proxy {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/**
 * Sends a request to the engine, perhaps with other headers and another body. @returns the response, whose body is to
 * be read
 */
export type SendToEngine = (
  message: IncomingMessage,
  other?: { readonly headers: IncomingMessage["headers"]; readonly body?: string },
) => Promise<IncomingMessage>;

/** Starts a proxy in front of an engine, on a free port of the loopback address. */
export async function startEngineProxy(
  engineEndpoint: string,
  serve: (message: IncomingMessage, response: ServerResponse, send: SendToEngine) => Promise<void>,
): Promise<Proxy> {
  const agent = new Agent({ keepAlive: true });
  const { hostname: host, port } = new URL(engineEndpoint);
  const send: SendToEngine = (message, other) =>
    new Promise((resolve, reject) => {
      const { method, url: path } = message;
      const { headers } = other ?? message;
      const sent = httpRequest({ agent, host, port, method, path, headers }).once("response", resolve);
      sent.once("error", reject);
      if (other?.body === undefined) message.once("error", (error) => sent.destroy(error)).pipe(sent);
      else sent.end(other.body);
    });

  // No time limit for requests: a large file may arrive slowly.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 75_000 }, (message, response) => {
    // The engine has ended, or the client has gone.
    serve(message, response, send).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      agent.destroy();
    },
  };
}
