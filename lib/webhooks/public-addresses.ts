import { BlockList, isIP, isIPv6 } from "node:net";

/** The name of the machine itself. */
export const LOCALHOST = "localhost";

/** Networks of IPv4 that aren't public (https://www.iana.org/assignments/iana-ipv4-special-registry). */
export const REFUSED_IPV4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Includes the addresses at which AWS provides credentials.
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const;
/** Networks of IPv6 that aren't public: all but 2000::/3, and special parts of it. */
export const REFUSED_IPV6 = [
  // Loopback, IPv4 in IPv6, and NAT64 (64:ff9b::/96).
  ["::", 3],
  ["4000::", 2],
  // Includes private, link-local and multicast addresses.
  ["8000::", 1],
  // Teredo and other protocols.
  ["2001::", 23],
  ["2001:db8::", 32],
  // IPv4 in 6to4.
  ["2002::", 16],
  ["3fff::", 20],
] as const;

const refusedIpv4 = new BlockList();
for (const [network, prefix] of REFUSED_IPV4) refusedIpv4.addSubnet(network, prefix, "ipv4");
const refusedIpv6 = new BlockList();
for (const [network, prefix] of REFUSED_IPV6) refusedIpv6.addSubnet(network, prefix, "ipv6");

/** Whether an address belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  return isIPv6(address) ? !refusedIpv6.check(address, "ipv6") : !refusedIpv4.check(address, "ipv4");
}

/** The host of a URL without brackets, and without a dot at its end, which doesn't change the host. */
export function hostOf({ hostname }: URL): string {
  return hostname.replaceAll(/^\[|\]$|\.$/g, "");
}

/** Whether a host is a literal address that isn't public. A name's addresses are checked when a socket connects. */
export function isPrivateLiteral(host: string): boolean {
  return isIP(host) !== 0 && !isPublicAddress(host);
}
