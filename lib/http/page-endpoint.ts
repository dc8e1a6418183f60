import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import * as z from "zod";
import { NotFoundError } from "../errors.ts";
import type { Environment } from "../aws/environment.ts";
import type { Runtime } from "../aws/runtime.ts";
import { accepts, addressOf, pathToRoot } from "./request.ts";
import type { ApiEvent, ApiHandler } from "./middleware.ts";
import { etagOf, isKnown } from "./etag.ts";
import { gatewayHandler } from "./public-endpoint.ts";

/** The name of the file that lists all others. */
export const INDEX_FILE = "index.json";

const indexSchema = z.object({
  /** Files of HTML, Markdown or text by their paths, such as `/docs`. */
  pages: z.record(z.string(), z.string()),
  /** Media types of the assets by their names, which change with their content. */
  assets: z.record(z.string(), z.string()),
  /** Names of compressed packages that npm installs from below `/docs`. They change with their content. */
  packages: z.array(z.string()),
});
/** The content of `INDEX_FILE`. */
export type PageIndex = z.output<typeof indexSchema>;

/** The compressions of an asset in order of preference, each with the suffix of its file. */
export const CODINGS = { br: ".br", gzip: ".gz" } as const;
/** A content coding of HTTP. */
type Coding = keyof typeof CODINGS;

/** A file as it is sent. */
interface Asset {
  readonly mediaType: string;
  /** Undefined if it is sent as it is. */
  readonly coding: Coding | undefined;
  readonly bytes: Buffer;
}

/** Opens the pages and assets that the build wrote. Each file is read on first use and kept. */
function openPageFiles(directory: string) {
  const read = new Map<string, Buffer>();
  const fileAt = (name: string): Buffer => {
    const cached = read.get(name);
    if (cached) return cached;
    const bytes = readFileSync(join(directory, name));
    read.set(name, bytes);
    return bytes;
  };
  const { pages, assets, packages } = indexSchema.parse(JSON.parse(fileAt(INDEX_FILE).toString()));
  return {
    /** @returns undefined if there is no such page. `{{root}}` stands for the path to the service's root, `{{base_url}}` for its address. */
    page: (path: string): string | undefined =>
      Object.hasOwn(pages, path) ? fileAt(pages[path]!).toString() : undefined,
    /** @returns undefined if there is no such package */
    package: (name: string): Buffer | undefined => (packages.includes(name) ? fileAt(name) : undefined),
    /** @param accepted whether the client accepts a coding @returns undefined if there is no such asset */
    asset: (name: string, accepted: (coding: Coding) => boolean): Asset | undefined => {
      if (!Object.hasOwn(assets, name)) return undefined;
      const mediaType = assets[name]!;
      const coding = (Object.keys(CODINGS) as Coding[]).find(accepted);
      return coding === undefined
        ? { mediaType, coding, bytes: gunzipSync(fileAt(name + CODINGS.gzip)) }
        : { mediaType, coding, bytes: fileAt(name + CODINGS[coding]) };
    },
  };
}
/** The pages and their assets. */
type PageFiles = ReturnType<typeof openPageFiles>;

/** Subtypes of `text/` by extension. @default html */
const TEXTS: Readonly<Record<string, string>> = { ".md": "markdown", ".txt": "plain" };

/** The page for browsers if a path has none. Programs get an error. */
export const NOT_FOUND_PAGE = "/404";

/** Packages are files in this folder. */
const DOCS = "/docs/";

/** The path parameter that names an asset. */
const ASSET = "{asset}";

/** The address in examples where the request doesn't contain one. */
const LOCAL_ADDRESS = "http://localhost:3000";

/** The names of assets change with their content. */
const FOREVER = "public, max-age=31536000, immutable";
const REVALIDATED = "public, no-cache";

/** The origin of the bucket for posted files and reports: on AWS its own, elsewhere that of the endpoint. */
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

/** The relative path from a page to the service's root. */
function pathFromPageToRoot(event: APIGatewayProxyEvent): string {
  if (event.resource !== "/") return pathToRoot(event);
  // Without a slash after the stage's name, browsers resolve relative addresses against its parent.
  const stage = /\/([^/]+)$/.exec(event.requestContext.path ?? "/")?.[1];
  return stage === undefined ? "./" : `./${stage}/`;
}

/** Addresses that are safe in HTML and in code. The request's `Host` might not be. */
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

/** The same result, or a 304 without body if the caller already has it. */
function unlessKnown(event: ApiEvent, result: APIGatewayProxyResult): APIGatewayProxyResult {
  const etag = etagOf(result.body, undefined);
  const headers = { ...result.headers, etag, "x-content-type-options": "nosniff" };
  return result.statusCode === 200 && isKnown(event.progress.headers["if-none-match"], etag)
    ? { statusCode: 304, headers, body: "" }
    : { ...result, headers };
}

/**
 * Serves pages and assets from the files in a directory. No API key is needed; query parameters are ignored.
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
    const path = pathOf(event);
    const bytes = files.package(path.slice(DOCS.length));
    if (bytes) return assetResult({ mediaType: "application/gzip", coding: undefined, bytes });
    const found = files.page(path);
    const isBrowser = event.progress.headers["accept"]?.includes("text/html") ?? false;
    const text = found ?? (isBrowser ? files.page(NOT_FOUND_PAGE) : undefined);
    if (text === undefined) throw new NotFoundError("no such page");
    return {
      statusCode: found === undefined ? 404 : 200,
      headers: {
        "content-type": `text/${(found !== undefined && TEXTS[extname(path)]) || "html"}; charset=utf-8`,
        "cache-control": REVALIDATED,
        "content-security-policy": policy,
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "no-referrer",
      },
      body: text.replaceAll("{{root}}", pathFromPageToRoot(event)).replaceAll("{{base_url}}", baseUrlOf(event)),
    };
  };
  return gatewayHandler(name, runtime, [], async (event) => unlessKnown(event, respond(event)));
}
