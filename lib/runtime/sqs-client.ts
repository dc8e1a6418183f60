import { SQSClient } from "@aws-sdk/client-sqs";
import { RETRIES, TIMEOUTS } from "./client-options.ts";

/** The client of the queues. Endpoint, region and credentials come from the SDK's own environment variables. */
export const createSqsClient = (): SQSClient =>
  // A queue's URL names its host as the queue's own engine knows it, which embedded engines cannot be reached by.
  new SQSClient({ ...RETRIES, requestHandler: TIMEOUTS, useQueueUrlAsEndpoint: false });
