import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { RETRIES, TIMEOUTS } from "./client-options.ts";

/** Longer than for other services, since a chunk of a file has several megabytes. */
const REQUEST_TIMEOUT_MS = 30_000;

/** The client for the bucket. @param options endpoint, region and credentials. @default the SDK's environment variables */
export function createS3Client(
  { S3_FORCE_PATH_STYLE }: { readonly S3_FORCE_PATH_STYLE: boolean },
  options: S3ClientConfig = {},
): S3Client {
  return new S3Client({
    ...RETRIES,
    requestHandler: { ...TIMEOUTS, requestTimeout: REQUEST_TIMEOUT_MS },
    forcePathStyle: S3_FORCE_PATH_STYLE,
    ...options,
  });
}
