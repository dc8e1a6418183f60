import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { PlainJson } from "./attribute-values.ts";
import { RETRIES, TIMEOUTS } from "./client-options.ts";
import { checkResponses } from "./response-check.ts";

/** The client for all tables. Endpoint, region and credentials come from the SDK's own environment variables. */
export function createDynamoDbClient(): DynamoDBDocumentClient {
  const client = new DynamoDBClient({ ...RETRIES, requestHandler: TIMEOUTS, protocol: PlainJson });
  // It copies every input and output for a logger, although none is set.
  client.middlewareStack.remove("loggerMiddleware");
  return DynamoDBDocumentClient.from(checkResponses(client), { marshallOptions: { removeUndefinedValues: true } });
}
