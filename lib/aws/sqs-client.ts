import { SQSClient, type SQSClientConfig } from "@aws-sdk/client-sqs";
import { RETRIES, TIMEOUTS } from "./client-options.ts";

/** The client for the queues. @param options endpoint, region and credentials. @default the SDK's environment variables */
export function createSqsClient(_environment?: object, options: SQSClientConfig = {}): SQSClient {
  return new SQSClient({ ...RETRIES, requestHandler: TIMEOUTS, useQueueUrlAsEndpoint: false, ...options });
}
