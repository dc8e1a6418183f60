import { randomUUID } from "node:crypto";
import { Logger } from "@aws-lambda-powertools/logger";
import { CreateTableCommand } from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand } from "@aws-sdk/client-s3";
import { CreateQueueCommand } from "@aws-sdk/client-sqs";
import type { Clock } from "../../lib/clock.ts";
import { type Environment, parseEnvironment } from "../../lib/aws/environment.ts";
import { createClients, type Runtime } from "../../lib/aws/runtime.ts";
import {
  LISTING_INDEX,
  LISTING_PARTITION_KEY,
  LISTING_PROJECTION,
  LISTING_SORT_KEY,
  PARTITION_KEY,
  SORT_KEY,
} from "../../lib/aws/tables.ts";
import type { Touches } from "../../lib/aws/touches.ts";

/** Touches of everything: the runtime that tests hand to any function. */
export type Everything = { readonly [K in keyof Touches]-?: NonNullable<Touches[K]> };

export interface TestRuntime extends Runtime<Everything> {
  /** Moves with `advance` only, where the test asked for a still clock. */
  readonly environment: Environment<Everything>;
}

const string = (name: string) => ({ AttributeName: name, AttributeType: "S" as const });

/** Tables, a bucket and queues of this caller's own in the embedded engines, and the clients to reach them. */
export const createTestRuntime = async (
  options: { readonly clock?: Clock; readonly variables?: Record<string, string> } = {},
): Promise<TestRuntime> => {
  const clients = createClients({ s3ForcePathStyle: true });
  const unique = randomUUID();
  const table = (name: string, listing: boolean) =>
    clients.dynamodb.send(
      new CreateTableCommand({
        TableName: `${name}-${unique}`,
        BillingMode: "PAY_PER_REQUEST",
        KeySchema: [
          { AttributeName: PARTITION_KEY, KeyType: "HASH" },
          { AttributeName: SORT_KEY, KeyType: "RANGE" },
        ],
        AttributeDefinitions: [
          string(PARTITION_KEY),
          string(SORT_KEY),
          ...(listing ? [string(LISTING_PARTITION_KEY), string(LISTING_SORT_KEY)] : []),
        ],
        ...(listing && {
          GlobalSecondaryIndexes: [
            {
              IndexName: LISTING_INDEX,
              KeySchema: [
                { AttributeName: LISTING_PARTITION_KEY, KeyType: "HASH" as const },
                { AttributeName: LISTING_SORT_KEY, KeyType: "RANGE" as const },
              ],
              Projection: { ProjectionType: "INCLUDE" as const, NonKeyAttributes: [...LISTING_PROJECTION] },
            },
          ],
        }),
      }),
    );
  const queue = async (name: string) =>
    (await clients.sqs.send(new CreateQueueCommand({ QueueName: `${name}-${unique}` }))).QueueUrl ?? "";
  const bucket = `uploads-${unique}`;
  const [split, parts] = await Promise.all([
    queue("split"),
    queue("parts"),
    clients.s3.send(new CreateBucketCommand({ Bucket: bucket })),
    table("work-items", true),
    table("access", false),
    table("limits", false),
  ]);
  const variables = {
    REGION_CODE: "us",
    WORK_ITEMS_TABLE: `work-items-${unique}`,
    ACCESS_TABLE: `access-${unique}`,
    LIMITS_TABLE: `limits-${unique}`,
    UPLOADS_BUCKET: bucket,
    SPLIT_QUEUE_URL: split,
    PARTS_QUEUE_URL: parts,
    S3_FORCE_PATH_STYLE: "true",
    ...options.variables,
  };
  const everything = { workItems: {}, access: {}, limits: {}, uploads: {}, splitQueue: {}, partsQueue: {} };
  const environment = parseEnvironment(everything as unknown as Everything, variables);
  return { environment, clock: options.clock ?? Date.now, log: new Logger(), ...clients };
};
