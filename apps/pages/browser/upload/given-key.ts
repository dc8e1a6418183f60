/** Names of one's own machine. Only there an address may carry a key, as the one that `npm start` prints. */
const OWN_MACHINE = ["localhost", "127.0.0.1", "[::1]"];

/** The key in the address, `#key=wi_…`, which is taken out of the address and of the browser's history. */
export function takeKey(): string | undefined {
  const key = new URLSearchParams(location.hash.slice(1)).get("key");
  if (key === null) return undefined;
  history.replaceState(null, "", location.pathname + location.search);
  return OWN_MACHINE.includes(location.hostname) ? key : undefined;
}
