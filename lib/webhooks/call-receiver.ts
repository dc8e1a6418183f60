import type { LookupAddress } from "node:dns";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { isoTime, type Clock } from "../clock.ts";
import { retryAfterMs } from "../retry-after.ts";
import type { Outcome, WebhookMessage } from "./endpoint-state.ts";
import { createResolve, type Resolve } from "./look-up.ts";
import { hostOf, isPrivateLiteral, isPublicAddress, LOCALHOST } from "./public-addresses.ts";
import { type Secrets, signedHeaders } from "./signature.ts";

/** The longest that a whole call may take: name, connection, TLS, request and the head of the response. */
const CALL_MS = 15_000;
/** The most addresses of a host that are tried, one after the other, each but the last for an equal part of the call. */
const ADDRESSES_MAX = 3;
const LOOPBACK = /^(127\.|::1$)/;

/** What a call requires of a runtime. */
export interface CallRuntime {
  readonly clock: Clock;
  readonly environment: { readonly WEBHOOKS_TO_LOCALHOST: boolean; readonly VERSION: string };
}

/** We ended the call. Callers see the message as the reason. */
class EndedCallError extends Error {
  override readonly name = "EndedCallError";
}
const refusedAddress = (): EndedCallError => new EndedCallError("the host has an address of a private network");

/** Why there was no response, in words that show nothing of our network. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: "the host wasn't found",
  EAI_AGAIN: "the host can't be resolved",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed",
  ETIMEDOUT: "the connection timed out",
  HPE_HEADER_OVERFLOW: "the response's headers are too large",
};
function reasonOf(error: NodeJS.ErrnoException): string {
  if (error instanceof EndedCallError) return error.message;
  const { code = "" } = error;
  if (/CERT|TLS|SSL|EPROTO|UNABLE_TO_/.test(code)) return "the certificate or the TLS connection isn't valid";
  if (code.startsWith("HPE_")) return REASONS[code] ?? "the response isn't valid HTTP";
  return REASONS[code] ?? "the connection failed";
}

/** The addresses of a host that are tried: the first ones of each family. */
function addressesToTry(addresses: readonly LookupAddress[]): LookupAddress[] {
  const families = [...Map.groupBy(addresses, ({ family }) => family).values()];
  return addresses
    .flatMap((_, number) => families.flatMap((family) => family.slice(number, number + 1)))
    .slice(0, ADDRESSES_MAX);
}

/** Sends a signed message to a URL. It never throws. */
export type CallReceiver = (url: string, message: WebhookMessage, secrets: Secrets) => Promise<Outcome>;

/**
 * Makes the function that sends a signed message to a URL. For each call, the address is checked when the socket connects,
 * so a name that later resolves to another address gains nothing. Redirects aren't followed, and only the head of the
 * response is read. A call ends when its time is up, whatever name servers, sockets and receivers do.
 * @param resolve finds the addresses of hosts. @default asks the name servers of the system
 * @param callMs the longest that a call may take. @default 15 seconds
 */
export function createCallReceiver(
  { clock, environment }: CallRuntime,
  resolve: Resolve = createResolve(),
  callMs = CALL_MS,
): CallReceiver {
  const mayConnect = (host: string, address: string): boolean =>
    isPublicAddress(address) || (environment.WEBHOOKS_TO_LOCALHOST && host === LOCALHOST && LOOPBACK.test(address));
  const lookupPublic =
    (signal: AbortSignal): LookupFunction =>
    (host, _, done) => {
      const found: Parameters<Resolve>[1] = (error, addresses) => {
        const isRefused = addresses.some(({ address }) => !mayConnect(host, address));
        if (error !== null || addresses.length === 0 || isRefused) done(error ?? refusedAddress(), []);
        else done(null, addressesToTry(addresses));
      };
      resolve(host, found, signal);
    };

  function post(
    url: URL,
    headers: Record<string, string>,
    body: string,
    signal: AbortSignal,
  ): Promise<Omit<Outcome, "milliseconds">> {
    const hostname = hostOf(url);
    // Literal addresses aren't looked up.
    if (isPrivateLiteral(hostname)) return Promise.reject(refusedAddress());
    const request = url.protocol === "https:" ? requestHttps : requestHttp;
    return new Promise((found, failed) => {
      signal.addEventListener("abort", () => failed(signal.reason as Error));
      const answer = ({ statusCode: status = 0, headers: received }: IncomingMessage): void => {
        const after = retryAfterMs(received["retry-after"], clock());
        found({ status, ...(after !== undefined && { retryAfterMs: after }) });
      };
      const options = {
        method: "POST",
        hostname,
        headers,
        signal,
        agent: false,
        lookup: lookupPublic(signal),
        autoSelectFamily: true,
        // Node's default of 250 ms is too short for a far host: https://github.com/nodejs/node/issues/54359
        autoSelectFamilyAttemptTimeout: Math.floor(callMs / ADDRESSES_MAX),
      };
      const sent = request(url, options, (response) => {
        answer(response);
        // The body isn't read, whatever its size.
        response.destroy();
      });
      // The response is a 101, which would give the receiver the connection.
      sent.on("upgrade", (response, socket) => {
        answer(response);
        socket.destroy();
      });
      sent.on("error", failed);
      sent.end(body);
    });
  }

  return async (url, { id, type, data }, secrets) => {
    const now = clock();
    const body = JSON.stringify({ type, timestamp: isoTime(now), data });
    const headers = {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      "user-agent": `work-items/${environment.VERSION}`,
      ...signedHeaders(id, body, secrets, now),
    };
    const began = performance.now();
    const call = new AbortController();
    const late = new EndedCallError(`no response within ${callMs / 1000} seconds`);
    const timer = setTimeout(() => call.abort(late), callMs);
    const outcome = await post(new URL(url), headers, body, call.signal).catch((error: unknown) => ({
      reason: reasonOf(error as NodeJS.ErrnoException),
    }));
    clearTimeout(timer);
    // Also ends a look-up that is no longer needed.
    call.abort();
    return { ...outcome, milliseconds: Math.round(performance.now() - began) };
  };
}
