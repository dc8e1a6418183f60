import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { RETRIES, TIMEOUTS } from "./client-options.ts";

/** The client for all tables. Endpoint, region and credentials come from the SDK's own environment variables. */
export const createDynamoDbClient = (): DynamoDBDocumentClient => {
  const client = new DynamoDBClient({ ...RETRIES, requestHandler: TIMEOUTS });
  // It copies every input and output for a logger, although none is set.
  client.middlewareStack.remove("loggerMiddleware");
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
};
