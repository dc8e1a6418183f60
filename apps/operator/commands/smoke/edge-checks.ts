import { connect } from "node:tls";
import { once } from "node:events";
import { regionCodes } from "@work-items/lib/regions.ts";
import { type Check, Difference, expectEqual, expectStatus, type Run } from "./check.ts";

const MEBIBYTE = 1024 * 1024;
const HANDSHAKE_WITHIN_MS = 10_000;

/** The protocol of a handshake; undefined if it is rejected. */
async function handshake(
  url: URL,
  version: { readonly minVersion?: "TLSv1"; readonly maxVersion?: "TLSv1.1" },
): Promise<string | undefined> {
  const socket = connect({
    host: url.hostname,
    port: Number(url.port || 443),
    servername: url.hostname,
    // By default, OpenSSL itself rejects old versions.
    ...(version.maxVersion !== undefined && { ciphers: "DEFAULT@SECLEVEL=0" }),
    ...version,
  });
  try {
    await once(socket, "secureConnect", { signal: AbortSignal.timeout(HANDSHAKE_WITHIN_MS) });
    return socket.getProtocol() ?? undefined;
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

async function tls({ url }: Run): Promise<string> {
  const address = new URL(url);
  if (address.protocol !== "https:") return "skipped: this address has no TLS";
  const protocol = await handshake(address, {});
  if (protocol !== "TLSv1.2" && protocol !== "TLSv1.3") throw new Difference(`${protocol ?? "no"} handshake`);
  const old = await handshake(address, { minVersion: "TLSv1", maxVersion: "TLSv1.1" });
  if (old !== undefined) throw new Difference(`${old} is accepted`);
  return protocol;
}

async function keys({ send, key }: Run): Promise<string> {
  const region = key.slice(3, 5);
  const wrong = [
    null,
    "nonsense",
    key.slice(0, -1),
    ...regionCodes.filter((code) => code !== region).map((code) => key.replace(`wi_${region}_`, `wi_${code}_`)),
  ];
  for (const each of wrong) {
    const response = await send("/v1/work_items", { key: each });
    expectStatus(response, 401);
    // API Gateway renames it; LocalStack doesn't.
    const scheme = ["x-amzn-remapped-www-authenticate", "www-authenticate"].map((name) => response.headers.get(name));
    expectEqual("www-authenticate", scheme[0] ?? scheme[1], "Bearer");
  }
  return "401 without a key, and to keys that are malformed or of another region";
}

async function paths({ send }: Run): Promise<string> {
  expectStatus(await send("/v1/nothing"), 404);
  expectStatus(await send("/nothing"), 404);
  // API Gateway rejects what can't be decoded with 400; LocalStack passes it on, and the function finds no such item.
  expectStatus(await send("/v1/work_items/%zz"), 400, 404);
  const response = await send("/v1/work_items", { method: "DELETE" });
  expectStatus(response, 405);
  expectEqual("allow", response.headers.get("allow")?.split(", ").toSorted(), ["GET", "HEAD", "POST"]);
  return "404, 400 and 405 with Allow";
}

async function headers({ send }: Run): Promise<string> {
  const response = await send("/v1/work_items?limit=1");
  expectStatus(response, 200);
  expectEqual("content-type", response.headers.get("content-type"), "application/json");
  for (const name of ["etag", "ratelimit", "ratelimit-policy"]) {
    if (response.headers.get(name) === null) throw new Difference(`no ${name}`);
  }
  const known = await send("/v1/work_items?limit=1", {
    headers: { "if-none-match": response.headers.get("etag") ?? "" },
  });
  expectEqual("status of a known ETag", known.status, 304);
  const head = await send("/v1/work_items?limit=1", { method: "HEAD" });
  expectEqual("HEAD", [head.status, head.text], [200, ""]);
  return "x-request-id, ETag, RateLimit, 304, HEAD";
}

async function bodies({ send }: Run): Promise<string> {
  const post = (body: string, type = "application/json") =>
    send("/v1/work_items", { method: "POST", body, headers: { "content-type": type } });
  expectStatus(await post("{}", "text/plain"), 415);
  expectStatus(await post("{"), 400);
  expectStatus(await post("{}"), 422);
  return "415, 400, 422";
}

/** Bodies that are too large are rejected by us, by Lambda (6 MB in base64) or by the gateway (10 MB). */
function tooLarge(mebibytes: number): Check {
  return {
    name: `a body of ${mebibytes} MiB`,
    run: async ({ send }) => {
      const body = JSON.stringify({ work_item: { external_id: "a".repeat(mebibytes * MEBIBYTE) } });
      const response = await send("/v1/work_items", { method: "POST", body });
      if (response.status !== 413) throw new Difference(`${response.status}: ${response.text.slice(0, 100)}`);
      if (typeof response.body?.["error"] === "string") return "413 with error";
      // Our templates don't apply to this response, as docs/reference says.
      if (mebibytes > 4.5 && response.text.length < 200) return `413 of the gateway itself: ${response.text}`;
      throw new Difference(`413 with another body: ${response.text.slice(0, 100)}`);
    },
  };
}

/** What the edge does before and around the handlers. */
export const edgeChecks: readonly Check[] = [
  { name: "TLS 1.2 or 1.3, nothing older", run: tls },
  { name: "keys", run: keys },
  { name: "paths and methods", run: paths },
  { name: "headers", run: headers },
  { name: "bodies", run: bodies },
  ...[4.1, 5, 7, 11].map(tooLarge),
];
