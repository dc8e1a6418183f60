import type { IncomingMessage } from "node:http";
import type { S3Client } from "@aws-sdk/client-s3";
import { SignatureV4 } from "@smithy/signature-v4";
import type { Signer } from "./post-policy.ts";
import { S3Refusal } from "./response.ts";

/** Options of `createSignatureCheck`. */
export interface SignatureCheckOptions {
  readonly signer: Signer;
  /** A client, which has the hash that signatures are made with. */
  readonly s3: S3Client;
  readonly clock: () => number;
}

/** What a request says of its signature. */
interface Signed {
  readonly accessKeyId: string;
  readonly region: string;
  /** Milliseconds since the epoch. */
  readonly date: number;
  readonly headerNames: readonly string[];
  readonly signature: string;
}

const ALGORITHM = "AWS4-HMAC-SHA256";
/** https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html */
const EXPIRES_MAX_SECONDS = 7 * 24 * 60 * 60;
/** https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html, RequestTimeTooSkewed */
const SKEW_MAX_MS = 15 * 60 * 1000;
const QUERY_PARAMETERS = ["Algorithm", "Credential", "Signature", "Date", "SignedHeaders", "Expires"].map(
  (name) => `X-Amz-${name}`,
);

function denied(message: string): S3Refusal {
  return new S3Refusal(403, "AccessDenied", message);
}
function invalidQuery(message: string): S3Refusal {
  return new S3Refusal(400, "AuthorizationQueryParametersError", message);
}
function mismatch(): S3Refusal {
  return new S3Refusal(
    403,
    "SignatureDoesNotMatch",
    "The request signature we calculated does not match the signature you provided. Check your key and signing method.",
  );
}

function dateOf(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

/** @param credential `<access key id>/<day>/<region>/s3/aws4_request` */
function signedBy(credential: string, date: string, headerNames: string, signature: string): Signed {
  const [accessKeyId = "", , region = ""] = credential.split("/");
  return { accessKeyId, region, date: dateOf(date), headerNames: headerNames.split(";"), signature };
}

/** The query with a list of values for each parameter that is repeated. */
function queryOf(parameters: URLSearchParams): Record<string, string | string[]> {
  return Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? "") : values];
    }),
  );
}

/** The request that was signed: all of its query, and the headers that the signature names. */
function requestOf(message: IncomingMessage, path: string, parameters: URLSearchParams, names: readonly string[]) {
  const headers = Object.fromEntries(names.map((name) => [name, String(message.headers[name] ?? "")]));
  // The library takes a stream for a payload that is not signed, as that of a presigned URL is.
  return {
    method: message.method ?? "GET",
    protocol: "http:",
    hostname: "",
    path,
    query: queryOf(parameters),
    headers,
    body: message,
  };
}

/** S3 needs the host to be signed, and every header of its own. */
function assertHeadersSigned({ headers }: IncomingMessage, names: readonly string[]): void {
  const isUnsigned = (name: string): boolean => !names.includes(name);
  if (["host", ...Object.keys(headers).filter((name) => name.startsWith("x-amz-"))].some(isUnsigned)) {
    throw denied("There were headers present in the request which were not signed");
  }
}

function presignedBy(parameters: URLSearchParams): Signed & { readonly expires: number } {
  const [algorithm, credential, signature, date, headerNames, expires] = QUERY_PARAMETERS.map((name) =>
    parameters.get(name),
  );
  if (!credential || !signature || !date || !headerNames || !expires || algorithm !== ALGORITHM) {
    throw invalidQuery(`Query-string authentication version 4 requires the ${QUERY_PARAMETERS.join(", ")} parameters.`);
  }
  const signed = signedBy(credential, date, headerNames, signature);
  if (Number.isNaN(signed.date))
    throw invalidQuery("X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"");
  if (!/^\d+$/.test(expires)) throw invalidQuery("X-Amz-Expires should be a number");
  if (Number(expires) > EXPIRES_MAX_SECONDS) {
    throw invalidQuery("X-Amz-Expires must be less than a week (in seconds) that is less than 604800");
  }
  return { ...signed, expires: Number(expires) };
}

function authorizedBy({ headers }: IncomingMessage): Signed {
  const authorization = headers.authorization ?? "";
  if (!authorization.startsWith(ALGORITHM)) {
    throw new S3Refusal(400, "InvalidArgument", "Unsupported Authorization Type");
  }
  const part = (name: string): string => new RegExp(`[ ,]${name}=([^, ]+)`).exec(authorization)?.[1] ?? "";
  const date = String(headers["x-amz-date"] ?? "");
  const signed = signedBy(part("Credential"), date, part("SignedHeaders"), part("Signature"));
  if (signed.signature === "" || Number.isNaN(signed.date)) {
    throw new S3Refusal(400, "AuthorizationHeaderMalformed", "The authorization header is malformed.");
  }
  return signed;
}

/**
 * Makes the function that checks the signature of a request, in its URL or its header, as S3 does
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html). The body is not compared with
 * its signed hash. The function throws `S3Refusal`.
 */
export function createSignatureCheck({ signer, s3, clock }: SignatureCheckOptions) {
  const signerFor = (region: string): SignatureV4 =>
    new SignatureV4({ service: "s3", region, credentials: signer, sha256: s3.config.sha256, uriEscapePath: false });

  const assertKnown = ({ accessKeyId }: Signed): void => {
    if (accessKeyId === signer.accessKeyId) return;
    throw new S3Refusal(403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.");
  };

  const checkUrl = async (message: IncomingMessage, path: string, parameters: URLSearchParams): Promise<void> => {
    const signed = presignedBy(parameters);
    const { region, date, expires, headerNames, signature } = signed;
    if (date + expires * 1000 <= clock()) throw denied("Request has expired");
    if (date > clock() + SKEW_MAX_MS) throw denied("Request is not valid yet");
    assertKnown(signed);
    assertHeadersSigned(message, headerNames);
    const names = new Set(headerNames);
    const presigned = await signerFor(region).presign(requestOf(message, path, parameters, headerNames), {
      signingDate: new Date(date),
      expiresIn: expires,
      signableHeaders: names,
      unhoistableHeaders: names,
    });
    const isEqual = ["X-Amz-Signature", "X-Amz-Credential", "X-Amz-SignedHeaders"].every(
      (name) => presigned.query?.[name] === parameters.get(name),
    );
    if (!isEqual || signature === "") throw mismatch();
  };

  const checkHeader = async (message: IncomingMessage, path: string, parameters: URLSearchParams): Promise<void> => {
    const signed = authorizedBy(message);
    const { region, date, headerNames, signature } = signed;
    assertKnown(signed);
    if (Math.abs(date - clock()) > SKEW_MAX_MS) {
      throw new S3Refusal(
        403,
        "RequestTimeTooSkewed",
        "The difference between the request time and the current time is too large.",
      );
    }
    assertHeadersSigned(message, headerNames);
    const { headers } = await signerFor(region).sign(requestOf(message, path, parameters, headerNames), {
      signingDate: new Date(date),
      signableHeaders: new Set(headerNames),
    });
    if (!headers["authorization"]?.endsWith(`Signature=${signature}`)) throw mismatch();
  };

  return async (message: IncomingMessage): Promise<void> => {
    const [path = "/", query = ""] = (message.url ?? "/").split(/\?(.*)/s);
    const parameters = new URLSearchParams(query);
    const isPresigned = QUERY_PARAMETERS.some((name) => parameters.has(name));
    if (!isPresigned && message.headers.authorization === undefined) throw denied("Access Denied");
    if (!isPresigned) return checkHeader(message, path, parameters);
    if (message.headers.authorization !== undefined) {
      throw new S3Refusal(400, "InvalidArgument", "Only one auth mechanism allowed");
    }
    return checkUrl(message, path, parameters);
  };
}
