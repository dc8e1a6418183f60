import { crc32 } from "node:zlib";
import { DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { RETRIES, TIMEOUTS } from "./client-options.ts";
import { UnreadableResponseError } from "./error-codes.ts";
import { checkResponses } from "./response-check.ts";

/** How bodies start: with a capitalized member or none. Those of errors start with any member. */
const BEGINNING = /^\s*\{\s*(?:\}|"[A-Z])/;
const BEGINNING_OF_ERROR = /^\s*\{/;
const BEGINNING_BYTES = 16;

interface HttpResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Reads and checks a body. Every response of DynamoDB is a JSON object, but the SDK accepts an empty body, ignores unknown
 * members, and doesn't compare the checksum.
 */
async function readBody({ statusCode, headers, body }: HttpResponse): Promise<Buffer> {
  const bytes = Buffer.concat(await Array.fromAsync(body));
  const beginning = statusCode < 300 ? BEGINNING : BEGINNING_OF_ERROR;
  const isOwn = beginning.test(bytes.toString("latin1", 0, BEGINNING_BYTES));
  const checksum = headers["x-amz-crc32"];
  if (!isOwn || (checksum !== undefined && Number(checksum) !== crc32(bytes))) {
    throw new UnreadableResponseError("the response is not DynamoDB's", { $metadata: { httpStatusCode: statusCode } });
  }
  return bytes;
}

/** The client for all tables. @param options endpoint, region and credentials. @default the SDK's environment variables */
export function createDynamoDbClient(
  _environment?: object,
  options: DynamoDBClientConfig = {},
): DynamoDBDocumentClient {
  const client = new DynamoDBClient({ ...RETRIES, requestHandler: TIMEOUTS, ...options });
  // This middleware copies every input and output for a logger, although none is set.
  client.middlewareStack.remove("loggerMiddleware");
  client.middlewareStack.add(
    (next) => async (request) => {
      const result = await next(request);
      const response = result.response as HttpResponse;
      return { ...result, response: Object.assign(response, { body: await readBody(response) }) };
    },
    // Between the connection and the SDK's own code for responses.
    { step: "deserialize", priority: "low", name: "readBody" },
  );
  return DynamoDBDocumentClient.from(checkResponses(client), { marshallOptions: { removeUndefinedValues: true } });
}
