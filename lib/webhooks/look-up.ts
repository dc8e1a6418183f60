import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";
import { LOCALHOST } from "./public-addresses.ts";

/** Finds the addresses of a host. @param signal ends the look-up, of which nothing is then left running */
export type Resolve = (
  host: string,
  found: (error: Error | null, addresses: LookupAddress[]) => void,
  signal: AbortSignal,
) => void;

/** After so long, and then once more after twice the time, a name server is asked again or has failed. */
const ASKED_AGAIN_AFTER_MS = 2000;
const TRIES = 2;
/** Name servers don't know them (RFC 6761). */
const LOOPBACK: readonly LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];
/** Codes of name servers that say that there is no such host, and not that they can't say it. */
const UNKNOWN = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"]);

/**
 * Makes the function that asks name servers. Each look-up has its own sockets: those of `dns.lookup` share four threads,
 * which a slow name server keeps also after the call has ended.
 * @param servers addresses with ports. @default those of the system
 */
export function createResolve(servers?: readonly string[]): Resolve {
  const ask = async (host: string, signal: AbortSignal): Promise<LookupAddress[]> => {
    const resolver = new Resolver({ timeout: ASKED_AGAIN_AFTER_MS, tries: TRIES });
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
