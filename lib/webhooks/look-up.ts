import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";
import { LOCALHOST } from "./public-addresses.ts";

/** Finds the addresses of a host. @param signal ends the look-up and all its requests */
export type Resolve = (
  host: string,
  found: (error: Error | null, addresses: LookupAddress[]) => void,
  signal: AbortSignal,
) => void;

/** Timeout of the first request to a name server. The second gets twice as long. */
const FIRST_TRY_MS = 2000;
const TRIES = 2;
/** Addresses of localhost, which name servers don't know (RFC 6761). */
const LOOPBACK: readonly LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];
/** Codes which mean that there is no such host, and not that the name server can't answer. */
const UNKNOWN = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"]);

/**
 * Makes the function that asks name servers. Each look-up has its own sockets: `dns.lookup` would share four threads,
 * which a slow name server blocks even after the call has ended.
 * @param servers addresses with ports. @default the system's
 */
export function createResolve(servers?: readonly string[]): Resolve {
  const ask = async (host: string, signal: AbortSignal): Promise<LookupAddress[]> => {
    const resolver = new Resolver({ timeout: FIRST_TRY_MS, tries: TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    signal.addEventListener("abort", () => resolver.cancel());
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((answer, index) => {
      const family = index === 0 ? 4 : 6;
      return answer.status === "fulfilled" ? answer.value.map((address) => ({ address, family })) : [];
    });
    if (addresses.length > 0) return addresses;
    const isUnknown = answers.every((answer) => answer.status === "rejected" && UNKNOWN.has(codeOf(answer.reason)));
    throw Object.assign(new Error("no address"), { code: isUnknown ? "ENOTFOUND" : "EAI_AGAIN" });
  };
  return (host, found, signal) => {
    if (host === LOCALHOST) return found(null, [...LOOPBACK]);
    ask(host, signal).then(
      (addresses) => found(null, addresses),
      (error: unknown) => found(error as Error, []),
    );
  };
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}
