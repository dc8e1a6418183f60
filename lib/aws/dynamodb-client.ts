import { DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { RETRIES, TIMEOUTS } from "./client-options.ts";

/** The client for all tables. @param options endpoint, region and credentials. @default the SDK's environment variables */
export function createDynamoDbClient(
  _environment?: object,
  options: DynamoDBClientConfig = {},
): DynamoDBDocumentClient {
  const client = new DynamoDBClient({ ...RETRIES, requestHandler: TIMEOUTS, ...options });
  // This middleware copies every input and output for a logger, although none is set.
  client.middlewareStack.remove("loggerMiddleware");
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}
