import { SQSClient } from "@aws-sdk/client-sqs";
import { RETRIES, SIGNING, TIMEOUTS } from "./client-options.ts";
import { checkResponses } from "./response-check.ts";

/** The client for the queues. Endpoint, region and credentials come from the SDK's own environment variables. */
export const createSqsClient = (): SQSClient =>
  // The host in a queue's URL is not reachable for the embedded engines: requests go to the endpoint instead.
  checkResponses(new SQSClient({ ...RETRIES, ...SIGNING, requestHandler: TIMEOUTS, useQueueUrlAsEndpoint: false }));
