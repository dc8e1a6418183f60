import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { NotFoundError } from "../errors.ts";
import { type Asset, openPageFiles, type PageFiles } from "./page-files.ts";
import type { Environment } from "../aws/environment.ts";
import type { Runtime } from "../aws/runtime.ts";
import { accepts, addressOf, wayToRoot } from "./request.ts";
import type { ApiEvent, ApiHandler } from "./chain.ts";
import { etagOf, isKnown } from "./etag.ts";
import { publicChain } from "./public-endpoint.ts";

/** The path parameter that names an asset. */
const ASSET = "{asset}";

/** The address in examples where the request doesn't contain one. */
const LOCAL_ADDRESS = "http://localhost:3000";

/** The names of assets change with their content. */
const FOREVER = "public, max-age=31536000, immutable";
const REVALIDATED = "public, no-cache";

/** The origin of the bucket that takes posted files and gives reports: on AWS its own, elsewhere that of the endpoint. */
function bucketOriginOf({
  AWS_ENDPOINT_URL,
  AWS_ENDPOINT_URL_S3 = AWS_ENDPOINT_URL,
  BUCKET_ORIGIN,
}: Environment<object>): string {
  return AWS_ENDPOINT_URL_S3 === undefined ? BUCKET_ORIGIN : new URL(AWS_ENDPOINT_URL_S3).origin;
}

/**
 * What a page may load and do: its own scripts, styles and images, and requests to this service and its bucket. Images
 * in style sheets are data URLs.
 */
function contentSecurityPolicy(bucketOrigin: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    `connect-src 'self' ${bucketOrigin}`.trimEnd(),
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** The way from a page to the service's root. */
function wayFromPage(event: APIGatewayProxyEvent): string {
  if (event.resource !== "/") return wayToRoot(event);
  // Without a slash after the stage's name, browsers resolve relative addresses against its parent.
  const stage = /\/([^/]+)$/.exec(event.requestContext.path ?? "/")?.[1];
  return stage === undefined ? "./" : `./${stage}/`;
}

/** What is safe in HTML and in code; the request's `Host` might not be. */
const ADDRESS = /^https?:\/\/[\w.:[\]-]+(?:\/[\w.~/-]*)?$/;

function baseUrlOf(event: APIGatewayProxyEvent): string {
  const address = addressOf(event, event.path.replace(/\/$/, ""));
  return address !== undefined && ADDRESS.test(address) ? address : LOCAL_ADDRESS;
}

function pathOf({ resource, pathParameters }: APIGatewayProxyEvent): string {
  return resource.replaceAll(/\{(\w+)\}/g, (_, name: string) => pathParameters?.[name] ?? "");
}

function assetResult({ mediaType, coding, bytes }: Asset): APIGatewayProxyResult {
  return {
    statusCode: 200,
    headers: {
      "content-type": mediaType,
      "cache-control": FOREVER,
      ...(coding !== undefined && { "content-encoding": coding }),
    },
    body: bytes.toString("base64"),
    isBase64Encoded: true,
  };
}

/** The same result, or a 304 without body if the caller has it already. */
function unlessKnown(event: ApiEvent, result: APIGatewayProxyResult): APIGatewayProxyResult {
  const etag = etagOf(result.body, undefined);
  const headers = { ...result.headers, etag, "x-content-type-options": "nosniff" };
  return isKnown(event.progress.headers["if-none-match"], etag)
    ? { statusCode: 304, headers, body: "" }
    : { ...result, headers };
}

/**
 * Serves pages and assets by the files in the function's directory. No API key is needed; query parameters are ignored.
 */
export function pageEndpoint(name: string, runtime: Runtime<object>, directory: string): ApiHandler {
  let opened: PageFiles | undefined;
  const policy = contentSecurityPolicy(bucketOriginOf(runtime.environment));
  const respond = (event: ApiEvent): APIGatewayProxyResult => {
    const files = (opened ??= openPageFiles(directory));
    if (event.resource.endsWith(ASSET)) {
      const { "accept-encoding": acceptEncoding } = event.progress.headers;
      const asset = files.asset(event.pathParameters?.["asset"] ?? "", (coding) => accepts(acceptEncoding, coding));
      if (asset === undefined) throw new NotFoundError("no such file");
      return assetResult(asset);
    }
    const html = files.page(pathOf(event));
    if (html === undefined) throw new NotFoundError("no such page");
    return {
      statusCode: 200,
      headers: {
        "content-type": "text/html; charset=utf-8",
        "cache-control": REVALIDATED,
        "content-security-policy": policy,
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "no-referrer",
      },
      body: html.replaceAll("{{root}}", wayFromPage(event)).replaceAll("{{base_url}}", baseUrlOf(event)),
    };
  };
  return publicChain(name, runtime, async (event) => unlessKnown(event, respond(event)));
}
