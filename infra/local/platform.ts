import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { Variables } from "../environment-file.ts";
import type { Service } from "./aws-terms/aws-terms.ts";

/** Only the S3 proxy checks them. */
export const CREDENTIALS = { accessKeyId: "local", secretAccessKey: "local" } as const;

/** Variables that every function gets in addition to its own: Lambda's, and the engines' endpoints. */
export function platformVariables(region: string, endpoints: Record<Service, string>): Variables {
  return {
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_S3: endpoints.s3,
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
    S3_FORCE_PATH_STYLE: "true",
  };
}

/** Clients of the local stack itself. */
export function clientsOf(region: string, endpoints: Record<Service, string>) {
  const options = { region, credentials: CREDENTIALS } as const;
  return {
    dynamodb: new DynamoDBClient({ ...options, endpoint: endpoints.dynamodb }),
    s3: new S3Client({
      ...options,
      endpoint: endpoints.s3,
      forcePathStyle: true,
      requestChecksumCalculation: "WHEN_REQUIRED",
    }),
    sqs: new SQSClient({ ...options, endpoint: endpoints.sqs }),
  };
}

/** The clients of the local stack itself. */
export type Clients = ReturnType<typeof clientsOf>;
