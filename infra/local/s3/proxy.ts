import type { IncomingMessage, ServerResponse } from "node:http";
import { type Proxy, type SendToEngine, startEngineProxy } from "../engine-proxy.ts";
import { type S3Response, S3Refusal, toS3Response } from "./response.ts";
import { isForThisMachine, withoutPageHeaders } from "../engines/web-pages.ts";
import type { AllowOrigin } from "./cors.ts";
import { type FormDestination, receiveForm } from "./form.ts";
import type { ObjectCreated } from "./notification.ts";
import { createSignatureCheck } from "./signature.ts";

/** Options of the S3 proxy. */
export interface S3ProxyOptions extends FormDestination {
  /** Endpoint of the embedded S3. */
  readonly engineEndpoint: string;
  readonly allowOrigin: AllowOrigin;
}

const NOT_ALLOWED = new S3Refusal(403, "AccessForbidden", "CORSResponse: This CORS request is not allowed.");

interface Target {
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
}

function targetOf(message: IncomingMessage): Target {
  const { pathname, searchParams } = new URL(message.url ?? "/", "http://localhost");
  const [, bucket = "", key = ""] = /^\/([^/]*)\/?(.*)$/s.exec(pathname) ?? [];
  return { bucket: decodeURIComponent(bucket), key: decodeURIComponent(key), query: searchParams };
}

/** How a request creates an object if it succeeds; undefined for requests that create none. */
function creationBy(message: IncomingMessage, { key, query }: Target): ObjectCreated | undefined {
  if (key === "") return undefined;
  if (message.method === "PUT" && !query.has("uploadId")) {
    return message.headers["x-amz-copy-source"] === undefined ? "Put" : "Copy";
  }
  return message.method === "POST" && query.has("uploadId") ? "CompleteMultipartUpload" : undefined;
}

/** Parameters of a GetObject or HeadObject that replace headers of its response. */
const RESPONSE_HEADERS = [
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-type",
  "expires",
];

/** The headers that a request asks for. */
function askedHeaders({ query }: Target): Readonly<Record<string, string>> {
  return Object.fromEntries(
    RESPONSE_HEADERS.flatMap((name) => {
      const value = query.get(`response-${name}`);
      return value === null ? [] : [[name, value]];
    }),
  );
}

function isForm({ method, headers }: IncomingMessage): boolean {
  return method === "POST" && (headers["content-type"] ?? "").toLowerCase().startsWith("multipart/form-data");
}

/**
 * Starts a proxy in front of the embedded S3, which checks neither signatures nor the policies of forms, holds whole
 * bodies in memory and sends no events. The proxy checks signatures, checks and streams forms, applies the bucket's CORS
 * rules (other pages get nothing), sends events and gives responses the headers that a signed URL asks for. It forwards requests unchanged.
 */
export function startS3Proxy(options: S3ProxyOptions): Promise<Proxy> {
  const { engineEndpoint, allowOrigin, notify } = options;
  const assertSigned = createSignatureCheck(options);

  const forward = async (
    message: IncomingMessage,
    response: ServerResponse,
    target: Target,
    send: SendToEngine,
  ): Promise<void> => {
    await assertSigned(message);
    const engineResponse = await send(message, { headers: withoutPageHeaders(message.headers) });
    const creation = creationBy(message, target);
    try {
      if (creation !== undefined && engineResponse.statusCode === 200)
        await notify(target.bucket, target.key, creation);
    } catch (error) {
      engineResponse.resume();
      throw error;
    }
    const status = engineResponse.statusCode ?? 500;
    response.writeHead(status, { ...engineResponse.headers, ...(status < 300 && askedHeaders(target)) });
    engineResponse.once("error", () => response.destroy());
    engineResponse.pipe(response);
  };

  const preflight = (message: IncomingMessage, { bucket }: Target): S3Response => {
    const { origin = "", "access-control-request-method": method = "" } = message.headers;
    const headers = allowOrigin(bucket, origin, method, message.headers["access-control-request-headers"]);
    if (headers === undefined) throw NOT_ALLOWED;
    return { status: 200, headers };
  };

  return startEngineProxy(engineEndpoint, async (message, response, send) => {
    const respond = ({ status, headers, body }: S3Response): void => void response.writeHead(status, headers).end(body);
    try {
      const target = targetOf(message);
      const { origin } = message.headers;
      const cors = origin === undefined ? undefined : allowOrigin(target.bucket, origin, message.method ?? "GET");
      const isOfPage = origin !== undefined && cors === undefined && message.method !== "OPTIONS";
      if (isOfPage || !isForThisMachine(message)) throw NOT_ALLOWED;
      for (const [name, value] of Object.entries(cors ?? {})) response.setHeader(name, value);
      if (message.method === "OPTIONS") respond(preflight(message, target));
      else if (isForm(message)) respond(await receiveForm(message, target.bucket, options));
      else await forward(message, response, target, send);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else respond(toS3Response(error));
    }
  });
}
