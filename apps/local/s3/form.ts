import type { IncomingMessage } from "node:http";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { S3Client } from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { Busboy } from "@fastify/busboy";
import { type SizeRange, verifyPostPolicy } from "./post-policy.ts";
import { type S3Response, S3Refusal } from "./s3-response.ts";

/** Below the embedded S3's limit of 11 MiB for one request. */
const PART_BYTES = 8 * 1024 * 1024;
/** S3's limit for all fields before the file together. */
const FIELDS_MAX_BYTES = 20 * 1024;

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

/**
 * Receives a browser's form (`POST /<bucket>`, https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html) as
 * S3 does, but without checking its signature. Checks the policy before it stores the first byte of the file. Streams the file
 * to the engine as a multipart upload, so that it is never in memory as a whole.
 * @param s3 client of the engine
 * @throws S3Refusal
 */
export async function receiveForm(request: IncomingMessage, bucket: string, s3: S3Client): Promise<S3Response> {
  const fields = new Map<string, string>([["bucket", bucket]]);
  const store = async (file: Readable): Promise<S3Response> => {
    const Key = fields.get("key");
    if (Key === undefined) {
      throw new S3Refusal(400, "InvalidArgument", "Bucket POST must contain a field named 'key'.");
    }
    const range = verifyPostPolicy(fields, Date.now());
    const Body = file.pipe(sized(range));
    file.on("error", (error) => Body.destroy(error));
    const ContentType = fields.get("content-type") ?? "binary/octet-stream";
    const params = { Bucket: bucket, Key, Body, ContentType };
    const { ETag = "" } = await new Upload({ client: s3, params, partSize: PART_BYTES, queueSize: 1 }).done();
    const location = `http://${request.headers.host}/${bucket}/${encodeURIComponent(Key)}`;
    return { status: 204, headers: { etag: ETag, location } };
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
    parser.on("file", (name, stream) => {
      if (file !== undefined || name !== "file") {
        stream.on("error", () => {}).resume();
        return;
      }
      file = stream;
      response = store(stream);
      // The client only reads the response after it has sent the whole file.
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
