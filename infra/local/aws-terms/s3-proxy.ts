import { Agent, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { S3Refusal, toS3Response } from "../s3/response.ts";
import { damageOf, frontEndResponse, sendWire, type WireResponse } from "./damage.ts";
import type { Faults } from "./faults.ts";
import { listen, type Proxy } from "./json-proxy.ts";

/** S3's errors: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html. */
const ERRORS = {
  expired: new S3Refusal(400, "ExpiredToken", "The provided token has expired."),
  denied: new S3Refusal(403, "AccessDenied", "Access Denied"),
  throttled: new S3Refusal(503, "SlowDown", "Please reduce your request rate."),
  "server fault": new S3Refusal(500, "InternalError", "We encountered an internal error. Please try again."),
} as const;

/** Changes a byte of a whole object, which has a checksum, and the checksum in the response to a write. */
function checksumDamageOf(faults: Faults): ((response: WireResponse) => WireResponse) | undefined {
  if (!faults.occurs("wrong checksum")) return undefined;
  return ({ status, headers, body }) => {
    const names = Object.keys(headers).filter((name) => name.startsWith("x-amz-checksum-"));
    if (body.length === 0) {
      return { status, headers: { ...headers, ...Object.fromEntries(names.map((name) => [name, "AAAAAA=="])) }, body };
    }
    const damaged = Buffer.from(body);
    // Without a checksum a change of the object would go unnoticed.
    if (names.length > 0) damaged[Math.floor(body.length / 2)]! ^= 1;
    return { status, headers, body: damaged };
  };
}

/** Requests for a whole bucket, such as its creation, are not disturbed. */
function isForObject({ url = "/" }: IncomingMessage): boolean {
  return /^\/[^/?]+\/[^?]/.test(url);
}

/** Starts a proxy that serves an engine as S3 serves it: requests are refused, fail, or lose their response. */
export function startS3FaultsProxy(engineEndpoint: string, faults: Faults): Promise<Proxy> {
  const agent = new Agent({ keepAlive: true });
  const { hostname: host, port } = new URL(engineEndpoint);

  const refuse = (message: IncomingMessage, response: ServerResponse, error: S3Refusal): void => {
    message.resume();
    message.once("close", () => {
      const { status, headers, body } = toS3Response(error);
      response.writeHead(status, headers).end(message.method === "HEAD" ? undefined : body);
    });
  };
  const forward = (message: IncomingMessage, response: ServerResponse): void => {
    const { method, url: path, headers } = message;
    const fail = (): void => void response.destroy();
    const sent = httpRequest({ agent, host, port, method, path, headers }, (received) => {
      const isLost = isForObject(message) && faults.occurs("lost response");
      const damage = isForObject(message) ? (damageOf(faults) ?? checksumDamageOf(faults)) : undefined;
      const { statusCode: status = 500 } = received;
      if (isLost) received.resume().once("end", fail);
      else if (damage !== undefined) {
        const send = (body: Buffer): void =>
          sendWire(response, damage({ status, headers: received.headers, body }), method === "HEAD");
        buffer(received).then(send).catch(fail);
      } else {
        response.writeHead(received.statusCode ?? 500, received.headers);
        received.once("error", fail).pipe(response);
      }
    });
    sent.once("error", fail);
    message.once("error", (error) => sent.destroy(error)).pipe(sent);
  };

  return listen(
    (message, response) => {
      const names = Object.keys(ERRORS) as (keyof typeof ERRORS)[];
      const fault = isForObject(message) ? names.find((name) => faults.occurs(name)) : undefined;
      const foreign = isForObject(message) ? frontEndResponse(faults, "before") : undefined;
      if (fault !== undefined) refuse(message, response, ERRORS[fault]);
      else if (foreign === undefined) forward(message, response);
      else message.resume().once("close", () => sendWire(response, foreign, message.method === "HEAD"));
    },
    () => agent.destroy(),
  );
}
