import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startDynamoDbEngine } from "../../infra/local/dynamodb-engine.ts";
import { startFauxqsEngine } from "../../infra/local/fauxqs-engine.ts";

/** The engine's own memory mode halves its speed within a few ten thousand items; a file in memory keeps it. */
const RAM_DISK = "/dev/shm";

/** Starts embedded engines of the bench's own and leads this process and its children to them until `run` ends. */
export const withEngines = async <T>(run: () => Promise<T>): Promise<T> => {
  const directory = existsSync(RAM_DISK) ? mkdtempSync(join(RAM_DISK, "work-items-bench-")) : undefined;
  const engines = [
    await startDynamoDbEngine(directory === undefined ? {} : { file: join(directory, "tables.db") }),
    await startFauxqsEngine(),
  ] as const;
  const [dynamodb, fauxqs] = engines;
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
  try {
    return await run();
  } finally {
    await Promise.all(engines.map((engine) => engine.stop()));
    if (directory !== undefined) rmSync(directory, { recursive: true });
  }
};
