import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { type Proxy, type SendToEngine, startEngineProxy } from "./engine-proxy.ts";
import { S3Refusal, toS3Response } from "../../../infra/local/s3/response.ts";
import { damageOf, frontEndResponse, sendWire, type WireResponse } from "./damage.ts";
import type { Faults } from "./faults.ts";

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
  const refuse = (message: IncomingMessage, response: ServerResponse, error: S3Refusal): void => {
    message.resume();
    message.once("close", () => {
      const { status, headers, body } = toS3Response(error);
      response.writeHead(status, headers).end(message.method === "HEAD" ? undefined : body);
    });
  };
  const forward = async (message: IncomingMessage, response: ServerResponse, send: SendToEngine): Promise<void> => {
    const fail = (): void => void response.destroy();
    const received = await send(message);
    const isLost = isForObject(message) && faults.occurs("lost response");
    const damage = isForObject(message) ? (damageOf(faults) ?? checksumDamageOf(faults)) : undefined;
    const { statusCode: status = 500, headers } = received;
    if (isLost) received.resume().once("end", fail);
    else if (damage !== undefined) {
      sendWire(response, damage({ status, headers, body: await buffer(received) }), message.method === "HEAD");
    } else {
      response.writeHead(status, headers);
      received.once("error", fail).pipe(response);
    }
  };

  return startEngineProxy(engineEndpoint, async (message, response, send) => {
    const names = Object.keys(ERRORS) as (keyof typeof ERRORS)[];
    const fault = isForObject(message) ? names.find((name) => faults.occurs(name)) : undefined;
    const foreign = isForObject(message) ? frontEndResponse(faults, "before") : undefined;
    if (fault !== undefined) refuse(message, response, ERRORS[fault]);
    else if (foreign === undefined) await forward(message, response, send);
    else message.resume().once("close", () => sendWire(response, foreign, message.method === "HEAD"));
  });
}
