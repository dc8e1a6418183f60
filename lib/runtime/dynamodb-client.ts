import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { AwsJson1_0Protocol } from "@aws-sdk/core/protocols";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { RETRIES, TIMEOUTS } from "./client-options.ts";

/**
 * DynamoDB's protocol, with responses as they are sent. The SDK's own walks each value of each item for binary ones,
 * which records do not hold; it takes a tenth of the CPU of reading a page of items.
 */
class PlainResponses extends AwsJson1_0Protocol {
  protected override deserializer = {
    setSerdeContext: (): void => {},
    read: async (_schema: unknown, data: string | Uint8Array) => JSON.parse(Buffer.from(data).toString()),
  };
}

/** The client for all tables. Endpoint, region and credentials come from the SDK's own environment variables. */
export const createDynamoDbClient = (): DynamoDBDocumentClient => {
  const client = new DynamoDBClient({ ...RETRIES, requestHandler: TIMEOUTS, protocol: PlainResponses });
  // It copies every input and output for a logger, although none is set.
  client.middlewareStack.remove("loggerMiddleware");
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
};
