import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
  type TableDescription,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand, type S3Client } from "@aws-sdk/client-s3";
import { CreateQueueCommand, SetQueueAttributesCommand, type SQSClient } from "@aws-sdk/client-sqs";
import * as z from "zod";
import { LocalStackError } from "../local-stack-error.ts";
import type { ResolvedTemplate } from "../template.ts";

/** Clients that reach the engines directly, not through the S3 proxy. */
export interface EngineClients {
  readonly dynamodb: DynamoDBClient;
  readonly s3: S3Client;
  readonly sqs: SQSClient;
}

const keySchema = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(["HASH", "RANGE"]) }));
const tableSchema = z.object({
  KeySchema: keySchema,
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.enum(["S", "N", "B"]) })),
  GlobalSecondaryIndexes: z
    .array(
      z.object({
        IndexName: z.string(),
        KeySchema: keySchema,
        Projection: z.object({
          ProjectionType: z.enum(["ALL", "INCLUDE", "KEYS_ONLY"]),
          NonKeyAttributes: z.array(z.string()).optional(),
        }),
      }),
    )
    .default([]),
  StreamSpecification: z.object({ StreamViewType: z.enum(["KEYS_ONLY"]) }).optional(),
  TimeToLiveSpecification: z.object({ AttributeName: z.string(), Enabled: z.boolean() }).optional(),
});
type Table = z.output<typeof tableSchema>;

type Index = Pick<
  NonNullable<TableDescription["GlobalSecondaryIndexes"]>[number],
  "IndexName" | "KeySchema" | "Projection"
>;

function keyNames(keys: TableDescription["KeySchema"] = []): string {
  return keys.map(({ KeyType, AttributeName }) => `${KeyType} ${AttributeName}`).join();
}

/** The properties of an index that cannot change while it holds data, as text. */
function shapeOf({ IndexName, KeySchema, Projection }: Index): string {
  return `${IndexName}(${keyNames(KeySchema)})[${Projection?.NonKeyAttributes?.toSorted().join() ?? ""}]`;
}

/** @throws LocalStackError if a kept table's keys or indexes differ from the template's */
function assertSameShape(name: string, kept: TableDescription, table: Table): void {
  const shapes = [kept.GlobalSecondaryIndexes ?? [], table.GlobalSecondaryIndexes].map((indexes) =>
    indexes.map(shapeOf).toSorted().join(),
  );
  if (keyNames(kept.KeySchema) === keyNames(table.KeySchema) && shapes[0] === shapes[1]) return;
  throw new LocalStackError(
    `the kept table ${name} has other keys or indexes than the template: delete the data directory, or name another with DATA_DIR`,
  );
}

async function provisionTable(dynamodb: DynamoDBClient, name: string, table: Table): Promise<void> {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, TimeToLiveSpecification } = table;
  const stream = table.StreamSpecification && {
    StreamSpecification: { ...table.StreamSpecification, StreamEnabled: true },
  };
  try {
    const { Table: existing = {} } = await dynamodb.send(new DescribeTableCommand({ TableName: name }));
    assertSameShape(name, existing, table);
    if (stream && existing.StreamSpecification?.StreamEnabled !== true) {
      await dynamodb.send(new UpdateTableCommand({ TableName: name, ...stream }));
    }
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
    await dynamodb.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: "PAY_PER_REQUEST",
        KeySchema,
        AttributeDefinitions,
        ...(GlobalSecondaryIndexes.length > 0 && { GlobalSecondaryIndexes }),
        ...stream,
      }),
    );
    if (TimeToLiveSpecification !== undefined) {
      await dynamodb.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
    }
  }
}

const attribute = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const queueSchema = z.object({
  VisibilityTimeout: attribute.optional(),
  MessageRetentionPeriod: attribute.optional(),
  DelaySeconds: attribute.optional(),
  MaximumMessageSize: attribute.optional(),
  ReceiveMessageWaitTimeSeconds: attribute.optional(),
  ContentBasedDeduplication: attribute.optional(),
  FifoQueue: attribute.optional(),
  DeduplicationScope: attribute.optional(),
  FifoThroughputLimit: attribute.optional(),
  RedrivePolicy: z
    .object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.coerce.number() })
    .transform((policy) => JSON.stringify(policy))
    .optional(),
});

async function provisionQueue(sqs: SQSClient, name: string, queue: z.output<typeof queueSchema>): Promise<void> {
  const { FifoQueue, DeduplicationScope, FifoThroughputLimit, ...settings } = queue;
  const given = (attributes: Readonly<Record<string, string | undefined>>): Record<string, string> =>
    Object.fromEntries(Object.entries(attributes).filter((entry): entry is [string, string] => entry[1] !== undefined));
  // The engine takes those of FIFO queues only here.
  const Attributes = given({ FifoQueue, DeduplicationScope, FifoThroughputLimit });
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: name, Attributes }));
  if (Object.keys(given(settings)).length === 0) return;
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: given(settings) }));
}

/**
 * Creates the template's tables, bucket and queues in the engines, if they do not exist.
 * @throws LocalStackError if an existing table has other keys or indexes than the template's
 */
export async function provision(template: ResolvedTemplate, { dynamodb, s3, sqs }: EngineClients): Promise<void> {
  const each = async <T>(
    type: string,
    schema: z.ZodType<T>,
    make: (name: string, properties: T) => Promise<unknown>,
  ) => {
    const found = [...template.resourcesOf(type, schema)];
    await Promise.all(found.map(([logicalId, properties]) => make(template.physicalName(logicalId), properties)));
  };
  await Promise.all([
    each("AWS::DynamoDB::Table", tableSchema, (name, table) => provisionTable(dynamodb, name, table)),
    each("AWS::SQS::Queue", queueSchema, (name, queue) => provisionQueue(sqs, name, queue)),
    each("AWS::S3::Bucket", z.object({}), (name) => s3.send(new CreateBucketCommand({ Bucket: name }))),
  ]);
}
