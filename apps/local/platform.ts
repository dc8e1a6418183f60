import { REGIONS, type RegionCode } from "@work-items/lib/regions.ts";
import type { Variables } from "@work-items/terminal/environment-file.ts";

/** The account id that the embedded engines use. */
export const ACCOUNT = "000000000000";
/** The region that the local service is. */
export const REGION_CODE = "us" satisfies RegionCode;
export const REGION = REGIONS[REGION_CODE].awsRegion;

/** ARN of the queue with a name or URL. */
export function queueArn(queue: string): string {
  return `arn:aws:sqs:${REGION}:${ACCOUNT}:${queue.split("/").at(-1)}`;
}

/** Where the engines serve. */
export type Endpoints = Readonly<Record<"dynamodb" | "s3" | "sqs", string>>;

/** Variables by which clients reach the engines. */
export function platformVariables(endpoints: Endpoints): Variables {
  return {
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_DYNAMODB_STREAMS: endpoints.dynamodb,
    AWS_ENDPOINT_URL_S3: endpoints.s3,
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
    S3_FORCE_PATH_STYLE: "true",
  };
}
