import type { IncomingMessage } from "node:http";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { S3Client } from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { Busboy } from "@fastify/busboy";
import { type FormFields, type Signer, type SizeRange, verifyPostPolicy } from "./post-policy.ts";
import { type S3Response, S3Refusal, XML_TYPE, xml } from "./response.ts";
import type { Notify } from "./notification.ts";

/** Below the embedded S3's limit of 11 MiB for one request. */
const PART_BYTES = 8 * 1024 * 1024;
/** S3's limit for all fields before the file together. */
const FIELDS_MAX_BYTES = 20 * 1024;

/** Dependencies of `receiveForm`. */
export interface FormDestination {
  /** Client of the engine, not of the proxy. */
  readonly s3: S3Client;
  readonly signer: Signer;
  readonly notify: Notify;
  readonly clock: () => number;
}

/** Passes a file through, and fails if it is larger or smaller than allowed. */
function sized({ min, max }: SizeRange): Transform {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size <= max) done(null, chunk);
      else done(new S3Refusal(400, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed size"));
    },
    flush(done) {
      if (size >= min) done();
      else done(new S3Refusal(400, "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size"));
    },
  });
}

function keyOf(fields: FormFields, filename: string): string {
  const key = fields.get("key");
  if (key === undefined || key === "") {
    throw new S3Refusal(400, "InvalidArgument", "Bucket POST must contain a field named 'key'.");
  }
  return key.replaceAll("${filename}", filename);
}

function responseTo(
  fields: FormFields,
  location: string,
  stored: Record<"Bucket" | "Key" | "ETag", string>,
): S3Response {
  const headers = { etag: stored.ETag, location };
  const redirect = fields.get("success_action_redirect") ?? "";
  if (URL.canParse(redirect)) {
    const url = new URL(redirect);
    for (const [name, value] of Object.entries(stored)) url.searchParams.set(name.toLowerCase(), value);
    return { status: 303, headers: { ...headers, location: url.href } };
  }
  const status = fields.get("success_action_status");
  if (status !== "201") return { status: status === "200" ? 200 : 204, headers };
  return {
    status: 201,
    headers: { ...headers, ...XML_TYPE },
    body: xml("PostResponse", { Location: location, ...stored }),
  };
}

/**
 * Receives a browser's form (`POST /<bucket>`, https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html) as
 * S3 does: the policy is checked before the first byte of the file is stored, and the file is streamed to the engine as
 * a multipart upload, so that it is never in memory as a whole.
 * @throws S3Refusal
 */
export async function receiveForm(
  request: IncomingMessage,
  bucket: string,
  { s3, signer, notify, clock }: FormDestination,
): Promise<S3Response> {
  const fields = new Map<string, string>([["bucket", bucket]]);
  const store = async (file: Readable, filename: string): Promise<S3Response> => {
    const Key = keyOf(fields, filename);
    fields.set("key", Key);
    const range = verifyPostPolicy(fields, signer, clock());
    const Body = file.pipe(sized(range));
    file.on("error", (error) => Body.destroy(error));
    const ContentType = fields.get("content-type") ?? "binary/octet-stream";
    const params = { Bucket: bucket, Key, Body, ContentType };
    const { ETag = "" } = await new Upload({ client: s3, params, partSize: PART_BYTES, queueSize: 1 }).done();
    await notify(bucket, Key, "Post");
    const location = `http://${request.headers.host}/${bucket}/${encodeURIComponent(Key)}`;
    return responseTo(fields, location, { Bucket: bucket, Key, ETag });
  };

  let file: Readable | undefined;
  let response: Promise<S3Response> | undefined;
  try {
    const { "content-type": contentType = "", ...headers } = request.headers;
    const parser = new Busboy({
      headers: { ...headers, "content-type": contentType },
      limits: { fieldSize: FIELDS_MAX_BYTES, fields: 100 },
    });
    // S3 ignores what comes after the file.
    parser.on("field", (name, value) => void (file === undefined && fields.set(name.toLowerCase(), value)));
    parser.on("file", (name, stream, filename) => {
      if (file !== undefined || name !== "file") {
        stream.on("error", () => {}).resume();
        return;
      }
      file = stream;
      response = store(stream, filename);
      // A refused file is still read to its end, so that the client gets the response.
      response.catch(() => stream.unpipe().resume());
    });
    await pipeline(request, parser);
  } catch (error) {
    file?.destroy(error instanceof Error ? error : undefined);
    await response?.catch(() => {});
    throw new S3Refusal(
      400,
      "MalformedPOSTRequest",
      "The body of your POST request is not well-formed multipart/form-data.",
    );
  }
  if (response === undefined) {
    throw new S3Refusal(400, "InvalidArgument", "POST requires exactly one file upload per request.");
  }
  return response;
}
