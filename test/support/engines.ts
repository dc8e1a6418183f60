import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDynamoDbEngine } from "../../infra/local/engines/dynamodb.ts";
import { startFauxqsEngine } from "../../infra/local/engines/fauxqs.ts";

/** The DynamoDB that runs already, as `DYNAMODB_ENDPOINT` says, or the embedded one. */
const startDynamoDb = async (file: string) => {
  const endpoint = process.env["DYNAMODB_ENDPOINT"];
  return endpoint === undefined ? startDynamoDbEngine({ file }) : { endpoint, stop: () => Promise.resolve() };
};

/**
 * Starts the engines and sets the environment variables by which this process and its children reach them.
 * @param directory keeps the tables
 * @returns a function that stops them
 */
export const startEngines = async (
  directory = mkdtempSync(join(tmpdir(), "work-items-engines-")),
): Promise<() => Promise<void>> => {
  const [dynamodb, fauxqs] = await Promise.all([startDynamoDb(join(directory, "tables.db")), startFauxqsEngine()]);
  Object.assign(process.env, {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint,
    AWS_ENDPOINT_URL_S3: fauxqs.endpoint,
    AWS_ENDPOINT_URL_SQS: fauxqs.endpoint,
    POWERTOOLS_LOG_LEVEL: "SILENT",
    POWERTOOLS_METRICS_DISABLED: "true",
  });
  return async () => {
    await Promise.all([dynamodb.stop(), fauxqs.stop()]);
  };
};
