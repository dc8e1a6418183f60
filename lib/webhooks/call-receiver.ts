import { lookup, type LookupAddress } from "node:dns";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { isoTime, type Clock } from "../clock.ts";
import type { Outcome, WebhookMessage } from "./endpoint-state.ts";
import { isPublicAddress } from "./public-addresses.ts";
import { type Secrets, signedHeaders } from "./signature.ts";

/** For all of a call: name, connection, TLS, request and the head of the response. */
const CALL_MS = 15_000;
const LOCALHOST = "localhost";
const LOOPBACK = /^(127\.|::1$)/;

/** Finds the addresses of a host. */
export type Resolve = (host: string, found: (error: Error | null, addresses: LookupAddress[]) => void) => void;

/** What a call requires of a runtime. */
export interface CallRuntime {
  readonly clock: Clock;
  readonly environment: { readonly WEBHOOKS_TO_LOCALHOST: boolean; readonly VERSION: string };
}

class RefusedAddressError extends Error {
  override readonly name = "RefusedAddressError";
  readonly code = "REFUSED_ADDRESS";
}

/** Why there was no response, in words that show nothing of our network. */
const REASONS: Readonly<Record<string, string>> = {
  REFUSED_ADDRESS: "the host has an address of a private network",
  ABORT_ERR: "no response within 15 seconds",
  ENOTFOUND: "the host is unknown",
  EAI_AGAIN: "the host can't be resolved",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed",
  ETIMEDOUT: "the connection timed out",
  HPE_HEADER_OVERFLOW: "the response's headers are too large",
};
function reasonOf({ code = "" }: NodeJS.ErrnoException): string {
  if (/CERT|TLS|SSL|EPROTO|UNABLE_TO_/.test(code)) return "the certificate or the TLS connection isn't valid";
  if (code.startsWith("HPE_")) return REASONS[code] ?? "the response isn't valid HTTP";
  return REASONS[code] ?? "the connection failed";
}

/** Seconds or a date (RFC 9110 §10.2.3). */
function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(wait) && wait > 0 ? wait : undefined;
}

/**
 * Makes the function that sends a signed message to a URL. The address is checked when the socket connects, for each
 * call, so that a name that shows another address the second time gains nothing. Redirects aren't followed, and of the
 * response only the head is read.
 * @param resolve finds the addresses of hosts. @default that of the system
 * @param callMs the longest that a call may take. @default 15 seconds
 * @returns a function that never throws
 */
export function createCallReceiver(
  { clock, environment }: CallRuntime,
  resolve: Resolve = (host, found) => lookup(host, { all: true }, found),
  callMs = CALL_MS,
) {
  const mayConnect = (host: string, address: string): boolean =>
    isPublicAddress(address) || (environment.WEBHOOKS_TO_LOCALHOST && host === LOCALHOST && LOOPBACK.test(address));
  const lookupPublic: LookupFunction = (host, { all = false }, done) => {
    resolve(host, (error, addresses) => {
      const isRefused = addresses?.some(({ address }) => !mayConnect(host, address)) ?? false;
      const [first] = addresses ?? [];
      if (error !== null || first === undefined || isRefused) {
        done(error ?? new RefusedAddressError("not a public address"), []);
      } else if (all) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };

  function post(url: URL, headers: Record<string, string>, body: string): Promise<Omit<Outcome, "milliseconds">> {
    // A literal address is not looked up.
    const host = url.hostname.replaceAll(/^\[|\]$/g, "");
    if (isIP(host) !== 0 && !isPublicAddress(host)) return Promise.reject(new RefusedAddressError());
    const request = url.protocol === "https:" ? requestHttps : requestHttp;
    return new Promise((found, failed) => {
      const signal = AbortSignal.timeout(callMs);
      const sent = request(url, { method: "POST", headers, signal, agent: false, lookup: lookupPublic }, (response) => {
        const { statusCode: status = 0, headers: received } = response;
        const after = retryAfterMs(received["retry-after"], clock());
        // The body is not read, whatever its size.
        response.destroy();
        found({ status, ...(after !== undefined && { retryAfterMs: after }) });
      });
      sent.on("error", failed);
      sent.end(body);
    });
  }

  return async (url: string, { id, type, data }: WebhookMessage, secrets: Secrets): Promise<Outcome> => {
    const now = clock();
    const body = JSON.stringify({ type, timestamp: isoTime(now), data });
    const headers = {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      "user-agent": `work-items/${environment.VERSION}`,
      ...signedHeaders(id, body, secrets, now),
    };
    const began = performance.now();
    const outcome = await post(new URL(url), headers, body).catch((error: unknown) => ({
      reason: reasonOf(error as NodeJS.ErrnoException),
    }));
    return { ...outcome, milliseconds: Math.round(performance.now() - began) };
  };
}
