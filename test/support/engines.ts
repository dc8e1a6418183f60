import { startDynamoDbEngine } from "../../infra/local/dynamodb-engine.ts";
import { startFauxqsEngine } from "../../infra/local/fauxqs-engine.ts";

/**
 * Starts the embedded engines and leads this process, and those that it starts, to them.
 * @param options.file keeps the tables; in the engine's memory where omitted
 * @returns what ends them
 */
export const startEngines = async (options: { readonly file?: string } = {}): Promise<() => Promise<void>> => {
  const [dynamodb, fauxqs] = await Promise.all([startDynamoDbEngine(options), startFauxqsEngine()]);
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
