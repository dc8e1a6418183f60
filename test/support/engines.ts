import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDynamoDbEngine } from "../../apps/local/engines/dynamodb.ts";
import { startFauxqsEngine } from "../../apps/local/engines/fauxqs.ts";

/** The engine's memory mode is half as fast after a few ten thousand items; a file on a RAM disk is not. */
const RAM_DISK = "/dev/shm";

/** The variable with the endpoints of all DynamoDBs. */
const ENDPOINTS = "TEST_DYNAMODB_ENDPOINTS";

/** Lets this process and its children use a DynamoDB. */
export const useEndpoint = (endpoint: string | undefined): void => {
  Object.assign(process.env, { AWS_ENDPOINT_URL_DYNAMODB: endpoint, AWS_ENDPOINT_URL_DYNAMODB_STREAMS: endpoint });
};

/** Lets them use one of those that were started. */
export const useDynamoDb = (index: number): void => {
  const endpoints = process.env[ENDPOINTS]?.split(" ") ?? [];
  useEndpoint(endpoints[index % endpoints.length]);
};

/**
 * Starts the engines and sets the environment variables by which this process and its children reach them.
 * @param count of DynamoDBs: each makes tables the slower, the more it has. This process uses the first.
 * @returns a function that stops them
 */
export const startEngines = async (count = 1): Promise<() => Promise<void>> => {
  const directory = mkdtempSync(join(existsSync(RAM_DISK) ? RAM_DISK : tmpdir(), "work-items-engines-"));
  const [fauxqs, ...databases] = await Promise.all([
    startFauxqsEngine(),
    ...Array.from({ length: count }, (_, index) =>
      startDynamoDbEngine({ file: join(directory, `tables-${index}.db`) }),
    ),
  ]);
  const endpoints = databases.map(({ endpoint }) => endpoint);
  Object.assign(process.env, {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    [ENDPOINTS]: endpoints.join(" "),
    AWS_ENDPOINT_URL_S3: fauxqs.endpoint,
    AWS_ENDPOINT_URL_SQS: fauxqs.endpoint,
    POWERTOOLS_LOG_LEVEL: "SILENT",
    POWERTOOLS_METRICS_DISABLED: "true",
  });
  useDynamoDb(0);
  return async () => {
    await Promise.all([...databases, fauxqs].map((engine) => engine.stop()));
    rmSync(directory, { recursive: true });
  };
};
