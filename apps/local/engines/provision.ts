import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  type TableDescription,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand, type S3Client } from "@aws-sdk/client-s3";
import {
  CreateQueueCommand,
  GetQueueUrlCommand,
  SetQueueAttributesCommand,
  type SQSClient,
  SQSServiceException,
} from "@aws-sdk/client-sqs";
import {
  type BucketResource,
  PARTITION_KEY,
  type QueueResource,
  type Resource,
  resources,
  resourcesOfKind,
  SORT_KEY,
  type TableResource,
  TIME_TO_LIVE,
} from "@work-items/lib/resources.ts";
import type { Variables } from "@work-items/terminal/environment-file.ts";
import { KEPT_SECONDS, MAX_RECEIVE_COUNT, visibilityTimeoutSeconds } from "../../../infra/limits.ts";
import { CommandError } from "@work-items/terminal/command-line.ts";
import { ACCOUNT, queueArn } from "../platform.ts";
import type { BucketSettings } from "../s3/front.ts";

/** Clients of the engines. */
export interface EngineClients {
  readonly dynamodb: Pick<DynamoDBClient, "send">;
  readonly s3: S3Client;
  readonly sqs: SQSClient;
}

const FIFO = ".fifo";

function nameOf(resource: Resource, prefix: string): string {
  const name = `${prefix}${resource.id}`;
  // Bucket names have at most 63 characters, in lower case.
  if (resource.kind === "bucket") return name.toLowerCase().slice(0, 63);
  return resource.kind === "queue" && resource.isFifo === true ? name + FIFO : name;
}

/** Name or URL of the queue that gets a queue's dead letters. */
export function deadLettersOf(queue: string): string {
  return queue.endsWith(FIFO) ? `${queue.slice(0, -FIFO.length)}DeadLetters${FIFO}` : `${queue}DeadLetters`;
}

/**
 * The variables that name all tables, buckets and queues.
 * @param prefix of their names. @default none
 */
export function variablesOf(sqsEndpoint: string, prefix = ""): Variables {
  return Object.fromEntries(
    Object.values<Resource>(resources).map((resource) => {
      const name = nameOf(resource, prefix);
      return [resource.variable, resource.kind === "queue" ? `${sqsEndpoint}/${ACCOUNT}/${name}` : name];
    }),
  );
}

function keysOf(partitionKey: string, sortKey: string) {
  return [
    { AttributeName: partitionKey, KeyType: "HASH" as const },
    { AttributeName: sortKey, KeyType: "RANGE" as const },
  ];
}

function describe({ indexes, stream }: TableResource) {
  const all = Object.entries(indexes);
  const names = new Set([PARTITION_KEY, SORT_KEY, ...all.flatMap(([, index]) => [index.partitionKey, index.sortKey])]);
  return {
    KeySchema: keysOf(PARTITION_KEY, SORT_KEY),
    AttributeDefinitions: [...names].map((AttributeName) => ({ AttributeName, AttributeType: "S" as const })),
    GlobalSecondaryIndexes: all.map(([IndexName, { partitionKey, sortKey, projection }]) => ({
      IndexName,
      KeySchema: keysOf(partitionKey, sortKey),
      Projection: projection
        ? { ProjectionType: "INCLUDE" as const, NonKeyAttributes: [...projection] }
        : { ProjectionType: "KEYS_ONLY" as const },
    })),
    ...(stream && { StreamSpecification: { StreamEnabled: true, StreamViewType: "KEYS_ONLY" as const } }),
  };
}

/** The properties of a table that can't change while it holds data, as text. */
function shapeOf({
  KeySchema,
  GlobalSecondaryIndexes = [],
}: Pick<TableDescription, "KeySchema" | "GlobalSecondaryIndexes">) {
  const keyNames = (keys: TableDescription["KeySchema"] = []): string =>
    keys.map(({ KeyType, AttributeName }) => `${KeyType} ${AttributeName}`).join();
  const indexes = GlobalSecondaryIndexes.map(
    ({ IndexName, KeySchema: keys, Projection }) =>
      `${IndexName}(${keyNames(keys)})[${Projection?.NonKeyAttributes?.toSorted().join() ?? ""}]`,
  );
  return [keyNames(KeySchema), ...indexes.toSorted()].join();
}

/** @throws CommandError if an existing table has other keys or indexes */
async function checkTable(dynamodb: EngineClients["dynamodb"], name: string, resource: TableResource): Promise<void> {
  const { Table: existing = {} } = await dynamodb.send(new DescribeTableCommand({ TableName: name }));
  const { StreamSpecification: stream, ...table } = describe(resource);
  if (shapeOf(existing) !== shapeOf(table)) {
    throw new CommandError(
      `the kept table ${name} has other keys or indexes than lib/resources.ts: delete the data directory, or name another with DATA_DIR`,
    );
  }
  if (stream && existing.StreamSpecification?.StreamEnabled !== true) {
    await dynamodb.send(new UpdateTableCommand({ TableName: name, StreamSpecification: stream }));
  }
}

async function provisionTable(dynamodb: EngineClients["dynamodb"], name: string, resource: TableResource) {
  const { GlobalSecondaryIndexes, ...table } = describe(resource);
  try {
    await dynamodb.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: "PAY_PER_REQUEST",
        ...table,
        ...(GlobalSecondaryIndexes.length > 0 && { GlobalSecondaryIndexes }),
      }),
    );
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
    return checkTable(dynamodb, name, resource);
  }
  const TimeToLiveSpecification = { AttributeName: TIME_TO_LIVE, Enabled: true };
  await dynamodb.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
}

/** Attributes of a FIFO queue. Its throughput limit is for each group, as in the stack. */
const FIFO_QUEUE = { FifoQueue: "true", DeduplicationScope: "messageGroup", FifoThroughputLimit: "perMessageGroupId" };

async function provisionQueue(sqs: SQSClient, resource: QueueResource, prefix: string): Promise<void> {
  const VisibilityTimeout = String(visibilityTimeoutSeconds(resource));
  const MessageRetentionPeriod = String(KEPT_SECONDS);
  const create = async (QueueName: string, settings: Readonly<Record<string, string>> = {}): Promise<void> => {
    const Attributes = { VisibilityTimeout, MessageRetentionPeriod, ...settings };
    try {
      const all = resource.isFifo === true ? { ...FIFO_QUEUE, ...Attributes } : Attributes;
      await sqs.send(new CreateQueueCommand({ QueueName, Attributes: all }));
    } catch (error) {
      // The kept queue has other settings.
      if (!(error instanceof SQSServiceException && error.name.endsWith("QueueNameExists"))) throw error;
      const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
      await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
    }
  };
  const name = nameOf(resource, prefix);
  if (resource.keepsAll === true) return create(name);
  const dead = deadLettersOf(name);
  await create(dead);
  const redrive = { deadLetterTargetArn: queueArn(dead), maxReceiveCount: MAX_RECEIVE_COUNT };
  await create(name, { RedrivePolicy: JSON.stringify(redrive) });
}

/**
 * Creates the tables, buckets and queues of `lib/resources.ts` in the engines, if they don't exist.
 * @param prefix of their names. @default none
 * @throws CommandError if an existing table has other keys or indexes
 */
export async function provision({ dynamodb, s3, sqs }: EngineClients, prefix = ""): Promise<void> {
  await Promise.all([
    ...resourcesOfKind("table").map(([, table]) => provisionTable(dynamodb, nameOf(table, prefix), table)),
    ...resourcesOfKind("queue").map(([, queue]) => provisionQueue(sqs, queue, prefix)),
    ...resourcesOfKind("bucket").map(([, bucket]) =>
      s3.send(new CreateBucketCommand({ Bucket: nameOf(bucket, prefix) })),
    ),
  ]);
}

/** Lets the bucket send events to its queue, and lets pages of these origins use its files, as the stack does. */
export async function openBuckets(variables: Variables, origins: readonly string[]): Promise<void> {
  for (const [, { variable, prefix, notifies }] of resourcesOfKind("bucket")) {
    const { suffix, queue }: BucketResource["notifies"] = notifies;
    const target: QueueResource = resources[queue];
    const settings: BucketSettings = { origins, queue: variables[target.variable]?.split("/").at(-1), prefix, suffix };
    const { ok, status } = await fetch(`${variables["AWS_ENDPOINT_URL_S3"]}/${variables[variable]}?settings`, {
      method: "PUT",
      headers: { authorization: "local" },
      body: JSON.stringify(settings),
    });
    if (!ok) throw new CommandError(`the S3 engine rejected the settings of a bucket: ${status}`);
  }
}
