import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDynamoDbEngine } from "../../apps/local/engines/dynamodb.ts";
import { startFauxqsEngine } from "../../apps/local/engines/fauxqs.ts";

/** The engine's memory mode is half as fast after a few ten thousand items; a file on a RAM disk is not. */
const RAM_DISK = "/dev/shm";

/** The DynamoDB that runs already, as `DYNAMODB_ENDPOINT` says, or the embedded one. */
const startDynamoDb = async (file: string) => {
  const endpoint = process.env["DYNAMODB_ENDPOINT"];
  return endpoint === undefined ? startDynamoDbEngine({ file }) : { endpoint, stop: () => Promise.resolve() };
};

/**
 * Starts the engines and sets the environment variables by which this process and its children reach them.
 * @returns a function that stops them
 */
export const startEngines = async (): Promise<() => Promise<void>> => {
  const directory = mkdtempSync(join(existsSync(RAM_DISK) ? RAM_DISK : tmpdir(), "work-items-engines-"));
  const [dynamodb, fauxqs] = await Promise.all([startDynamoDb(join(directory, "tables.db")), startFauxqsEngine()]);
  Object.assign(process.env, {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint,
    AWS_ENDPOINT_URL_DYNAMODB_STREAMS: dynamodb.endpoint,
    AWS_ENDPOINT_URL_S3: fauxqs.endpoint,
    AWS_ENDPOINT_URL_SQS: fauxqs.endpoint,
    POWERTOOLS_LOG_LEVEL: "SILENT",
    POWERTOOLS_METRICS_DISABLED: "true",
  });
  return async () => {
    await Promise.all([dynamodb.stop(), fauxqs.stop()]);
    rmSync(directory, { recursive: true });
  };
};
