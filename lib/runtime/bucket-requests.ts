import { createHmac } from "node:crypto";
import { formatUrl } from "@aws-sdk/core/util";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createScope, getSigningKey, SignatureV4 } from "@smithy/signature-v4";
import { backOff } from "../backoff.ts";
import { isBusy } from "./aws-errors.ts";
import { type BucketAddress, bucketUrlOf, objectUrlOf } from "./bucket-address.ts";
import { RETRIES } from "./client-options.ts";

/**
 * Requests to the bucket for functions that need few of them: what signs and sends them is already there for DynamoDB, while
 * the client of S3 would add 120 KB to a bundle.
 */
export interface BucketRuntime {
  readonly dynamodb: DynamoDBDocumentClient;
  readonly environment: BucketAddress;
}

/** S3 refused a request. Its name is S3's code, such as `SlowDown`. */
class BucketError extends Error {
  readonly $metadata: { readonly httpStatusCode: number; readonly attempts: number };

  constructor(httpStatusCode: number, text: string, attempts: number) {
    super(`S3 responded with ${httpStatusCode}`);
    this.name = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? "BucketError";
    this.$metadata = { httpStatusCode, attempts };
  }
}

/** A file has up to ten megabytes. */
const WRITE_TIMEOUT_MS = 30_000;
const PRECONDITION_FAILED = 412;
const UNSIGNED_PAYLOAD = { "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD" };

const createSigner = ({ dynamodb }: BucketRuntime): SignatureV4 => {
  const { region, credentials, sha256 } = dynamodb.config;
  return new SignatureV4({ service: "s3", region, credentials, sha256, uriEscapePath: false });
};

const requestTo = ({ protocol, host, hostname, port, pathname }: URL, headers: Readonly<Record<string, string>>) => ({
  protocol,
  hostname,
  ...(port !== "" && { port: Number(port) }),
  path: pathname,
  headers: { ...headers, host },
});

/** Makes the function that signs a URL with which anybody can read an object for some seconds. */
export const createReadUrl = (runtime: BucketRuntime) => {
  const signer = createSigner(runtime);
  return async (key: string, query: Readonly<Record<string, string>>, seconds: number): Promise<string> => {
    const request = requestTo(objectUrlOf(runtime.environment, key), UNSIGNED_PAYLOAD);
    return formatUrl(await signer.presign({ method: "GET", query: { ...query }, ...request }, { expiresIn: seconds }));
  };
};

/** A form with which anybody can write one object: its file is the field `file`, after these fields. */
export interface WriteForm {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** Date and time as signatures and policies write it. */
const withoutMilliseconds = (time: number): string => new Date(time).toISOString().replace(/\.\d+/, "");

/**
 * Makes the function that signs a form for an object of exactly this size
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-UsingHTTPPOST.html).
 */
export const createWriteForm = ({ dynamodb, environment }: BucketRuntime) => {
  const { config } = dynamodb;
  return async (key: string, size: number, seconds: number): Promise<WriteForm> => {
    const [region, credentials] = await Promise.all([config.region(), config.credentials()]);
    const now = Date.now();
    const date = withoutMilliseconds(now).replaceAll(/[-:]/g, "");
    const day = date.slice(0, 8);
    const fields = {
      bucket: environment.UPLOADS_BUCKET,
      key,
      "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
      "X-Amz-Credential": `${credentials.accessKeyId}/${createScope(day, region, "s3")}`,
      "X-Amz-Date": date,
      ...(credentials.sessionToken !== undefined && { "X-Amz-Security-Token": credentials.sessionToken }),
    };
    const policy = {
      expiration: withoutMilliseconds(now + seconds * 1000),
      conditions: [
        ["content-length-range", size, size],
        ...Object.entries(fields).map(([name, value]) => ({ [name]: value })),
      ],
    };
    const Policy = Buffer.from(JSON.stringify(policy)).toString("base64");
    const signingKey = await getSigningKey(config.sha256, credentials, day, region, "s3");
    const signature = createHmac("sha256", signingKey).update(Policy).digest("hex");
    return { url: bucketUrlOf(environment).href, fields: { ...fields, Policy, "X-Amz-Signature": signature } };
  };
};

/**
 * Makes the function that writes an object, unless there is one with its key. S3 compares the body with the hash in
 * the signature.
 */
export const createWriteOnce = (runtime: BucketRuntime) => {
  const signer = createSigner(runtime);
  const { requestHandler } = runtime.dynamodb.config;

  const send = async (url: URL, headers: Readonly<Record<string, string>>, body: Buffer, attempt: number) => {
    const signed = await signer.sign({ method: "PUT", body, ...requestTo(url, headers) });
    const { response } = await requestHandler.handle(signed, { requestTimeout: WRITE_TIMEOUT_MS });
    const text = Buffer.concat(await Array.fromAsync(response.body as AsyncIterable<Uint8Array>)).toString();
    const { statusCode } = response;
    if (statusCode >= 300 && statusCode !== PRECONDITION_FAILED) throw new BucketError(statusCode, text, attempt);
  };

  return async (key: string, body: Buffer, contentType: string): Promise<void> => {
    const url = objectUrlOf(runtime.environment, key);
    const headers = { "content-length": String(body.length), "content-type": contentType, "if-none-match": "*" };
    for (let attempt = 1; ; attempt++) {
      try {
        await send(url, headers, body, attempt);
        return;
      } catch (error) {
        if (attempt >= RETRIES.maxAttempts || !isBusy(error)) throw error;
        await backOff(attempt);
      }
    }
  };
};
