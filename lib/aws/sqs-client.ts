import { SQSClient } from "@aws-sdk/client-sqs";
import { RETRIES, TIMEOUTS } from "./client-options.ts";
import { checkResponses } from "./response-check.ts";

/** The client for the queues. Endpoint, region and credentials come from the SDK's own environment variables. */
export function createSqsClient(): SQSClient {
  return checkResponses(new SQSClient({ ...RETRIES, requestHandler: TIMEOUTS, useQueueUrlAsEndpoint: false }));
}
