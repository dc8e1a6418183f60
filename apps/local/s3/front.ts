import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { S3Client } from "@aws-sdk/client-s3";
import type { S3Event } from "aws-lambda";
import { REGION } from "../platform.ts";
import { receiveForm } from "./form.ts";
import { type S3Response, S3Refusal, toS3Response } from "./s3-response.ts";

/** Settings of a bucket. The local service sends them by a PUT of its own, as the engine knows neither CORS nor events. */
export interface BucketSettings {
  /** Pages of these origins may use its files. */
  readonly origins: readonly string[];
  /** Name of the queue that gets the events. */
  readonly queue: string | undefined;
  readonly prefix: string;
  readonly suffix: string;
}
const NONE: BucketSettings = { origins: [], queue: undefined, prefix: "", suffix: "" };
const METHODS = ["POST", "GET"];

const NOT_ALLOWED = new S3Refusal(403, "AccessForbidden", "CORSResponse: This CORS request is not allowed.");

/** The Host that programs on this machine send. A page whose name resolves to this machine (DNS rebinding) sends its own. */
const OWN_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/** Whether a request is addressed to this machine by one of its own names. */
function isForThisMachine({ headers }: IncomingMessage): boolean {
  return OWN_HOST.test(headers.host ?? "");
}

/** Whether a web page, or a link in one, caused a request. Only browsers send these headers. */
function isFromPage({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
}

/**
 * Refuses requests of web pages. The engines check no signatures, so any page that finds the port could read and write
 * everything.
 */
function withoutPages(engine: RequestListener): RequestListener {
  return (message, response) => {
    if (isForThisMachine(message) && !isFromPage(message)) {
      engine(message, response);
      return;
    }
    message.resume();
    response.writeHead(403, { "content-type": "text/plain" }).end("This engine isn't for web pages.\n");
  };
}

interface Target {
  readonly bucket: string;
  readonly query: URLSearchParams;
}

function targetOf(message: IncomingMessage): Target {
  const { pathname, searchParams } = new URL(message.url ?? "/", "http://localhost");
  return { bucket: decodeURIComponent(pathname.split("/")[1] ?? ""), query: searchParams };
}

function corsHeaders({ origins }: BucketSettings, origin: string | undefined, method: string) {
  if (origin === undefined || !origins.includes(origin) || !METHODS.includes(method)) return undefined;
  return {
    "access-control-allow-origin": origin,
    "access-control-allow-methods": METHODS.join(", "),
    "access-control-max-age": "3600",
    vary: "Origin, Access-Control-Request-Headers, Access-Control-Request-Method",
  };
}

function preflight(settings: BucketSettings, { headers }: IncomingMessage): S3Response {
  const method = headers["access-control-request-method"] ?? "";
  const cors = corsHeaders(settings, headers.origin, method);
  if (cors === undefined) throw NOT_ALLOWED;
  const asked = headers["access-control-request-headers"];
  return { status: 200, headers: { ...cors, ...(asked !== undefined && { "access-control-allow-headers": asked }) } };
}

/** Refuses a request with no signature, with two, or with an expired link. Doesn't verify signatures. */
function assertAuthorized({ headers }: IncomingMessage, { query }: Target): void {
  const isLink = query.has("X-Amz-Signature");
  if (isLink && headers.authorization !== undefined) {
    throw new S3Refusal(400, "InvalidArgument", "Only one auth mechanism allowed");
  }
  if (!isLink && headers.authorization === undefined) throw new S3Refusal(403, "AccessDenied", "Access Denied");
  if (!isLink) return;
  const madeAt = Date.parse(
    (query.get("X-Amz-Date") ?? "").replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"),
  );
  const endsAt = madeAt + Number(query.get("X-Amz-Expires")) * 1000;
  if (!(endsAt > Date.now())) throw new S3Refusal(403, "AccessDenied", "Request has expired");
}

/** Adds the headers that a signed URL asks for (`response-content-disposition` and others) to a successful response. */
function addRequestedHeaders(response: ServerResponse, { query }: Target): void {
  const asked = [...query].filter(([name]) => name.startsWith("response-"));
  if (asked.length === 0) return;
  const own = Object.fromEntries(asked.map(([name, value]) => [name.slice("response-".length), value]));
  const writeHead = response.writeHead.bind(response) as (status: number, headers?: object) => ServerResponse;
  response.writeHead = ((status: number, headers?: object) =>
    writeHead(status, status < 300 ? { ...headers, ...own } : headers)) as ServerResponse["writeHead"];
}

function isForm({ method, headers }: IncomingMessage): boolean {
  return method === "POST" && (headers["content-type"] ?? "").toLowerCase().startsWith("multipart/form-data");
}

/** Encodes a key as S3's events do: a space is a plus, slashes stay. */
function encodeKey(key: string): string {
  return encodeURIComponent(key).replaceAll("%2F", "/").replaceAll("%20", "+");
}

function createdEvent(bucket: string, key: string): S3Event {
  return {
    Records: [
      {
        eventVersion: "2.1",
        eventSource: "aws:s3",
        awsRegion: REGION,
        eventTime: new Date().toISOString(),
        eventName: "ObjectCreated:Put",
        userIdentity: { principalId: "local" },
        requestParameters: { sourceIPAddress: "127.0.0.1" },
        responseElements: { "x-amz-request-id": randomUUID(), "x-amz-id-2": randomUUID() },
        s3: {
          s3SchemaVersion: "1.0",
          configurationId: "local",
          bucket: { name: bucket, ownerIdentity: { principalId: "local" }, arn: `arn:aws:s3:::${bucket}` },
          object: { key: encodeKey(key), size: 0, eTag: "", sequencer: Date.now().toString(16).toUpperCase() },
        },
      },
    ],
  };
}

/** What the engine lacks: forms of any size with their policies, CORS (other pages get nothing), links that expire, events. */
export interface S3Front {
  /** Serves a request, or passes it on to the engine. */
  readonly inFrontOf: (engine: RequestListener) => RequestListener;
  /** Sends the event of a created object. */
  readonly notify: (bucket: string, key: string) => void;
}

/** @param send sends a message to a queue; when it returns, the message is stored */
export function createS3Front(send: (queue: string, body: string) => void): S3Front {
  const buckets = new Map<string, BucketSettings>();
  const settingsOf = (bucket: string): BucketSettings => buckets.get(bucket) ?? NONE;
  let client: S3Client | undefined;

  /** @returns undefined if the engine is to serve the request */
  const respondTo = async (message: IncomingMessage, target: Target): Promise<S3Response | undefined> => {
    const { bucket, query } = target;
    if (message.method === "OPTIONS") return preflight(settingsOf(bucket), message);
    if (isForm(message)) {
      client ??= new S3Client({
        endpoint: `http://127.0.0.1:${message.socket.localPort}`,
        region: REGION,
        credentials: { accessKeyId: "local", secretAccessKey: "local" },
        forcePathStyle: true,
        requestChecksumCalculation: "WHEN_REQUIRED",
      });
      return receiveForm(message, bucket, client);
    }
    assertAuthorized(message, target);
    if (message.method === "PUT" && query.has("settings")) {
      buckets.set(bucket, JSON.parse(await text(message)) as BucketSettings);
      return { status: 200 };
    }
    return undefined;
  };
  const serve = async (message: IncomingMessage, response: ServerResponse, engine: () => void): Promise<void> => {
    const respond = ({ status, headers, body }: S3Response): void => void response.writeHead(status, headers).end(body);
    try {
      const target = targetOf(message);
      const cors = corsHeaders(settingsOf(target.bucket), message.headers.origin, message.method ?? "GET");
      const isFromOrigin = message.headers.origin !== undefined && message.method !== "OPTIONS";
      if ((isFromOrigin && cors === undefined) || !isForThisMachine(message)) throw NOT_ALLOWED;
      for (const [name, value] of Object.entries(cors ?? {})) response.setHeader(name, value);
      const own = await respondTo(message, target);
      if (own !== undefined) return respond(own);
      addRequestedHeaders(response, target);
      engine();
    } catch (error) {
      if (response.headersSent) response.destroy();
      else respond(toS3Response(error));
    }
  };
  return {
    inFrontOf: (engine) => (message, response) => {
      // Requests to SQS and about the engine itself.
      if (/^\/(?:$|\?|health$|_fauxqs\/)/.test(message.url ?? "/")) withoutPages(engine)(message, response);
      else void serve(message, response, () => engine(message, response));
    },
    notify: (bucket, key) => {
      const { queue, prefix, suffix } = settingsOf(bucket);
      if (queue === undefined || !key.startsWith(prefix) || !key.endsWith(suffix)) return;
      send(queue, JSON.stringify(createdEvent(bucket, key)));
    },
  };
}
