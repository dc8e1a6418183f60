import { Agent, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { S3Refusal, toS3Response } from "../s3-response.ts";
import type { Faults } from "./faults.ts";
import { listen, type Proxy } from "./json-proxy.ts";

/** S3's errors: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html. */
const ERRORS = {
  expired: new S3Refusal(400, "ExpiredToken", "The provided token has expired."),
  denied: new S3Refusal(403, "AccessDenied", "Access Denied"),
  throttled: new S3Refusal(503, "SlowDown", "Please reduce your request rate."),
  "server fault": new S3Refusal(500, "InternalError", "We encountered an internal error. Please try again."),
} as const;

/** Requests for a whole bucket, such as its creation, are not disturbed. */
const isForObject = ({ url = "/" }: IncomingMessage): boolean => /^\/[^/?]+\/[^?]/.test(url);

/** Starts a proxy that serves an engine as S3 serves it: requests are refused, fail, or lose their response. */
export const startS3FaultsProxy = (engineEndpoint: string, faults: Faults): Promise<Proxy> => {
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
      if (isLost) received.resume().once("end", fail);
      else {
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
      if (fault === undefined) forward(message, response);
      else refuse(message, response, ERRORS[fault]);
    },
    () => agent.destroy(),
  );
};
