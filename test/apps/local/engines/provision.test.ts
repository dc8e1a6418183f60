import { DescribeTableCommand, DynamoDBClient, UpdateTableCommand } from "@aws-sdk/client-dynamodb";
import { GetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";
import { deadLettersOf, provision } from "../../../../apps/local/engines/provision.ts";
import { resourcesOfKind } from "../../../../lib/resources.ts";
import { createTestRuntime } from "../../../support/runtime.ts";
import { createTestService } from "../../../support/service.ts";
import { idOf, resourcesOf, synthesize } from "../../../infra/synthesized.ts";

const { us } = synthesize();

test("keeps tables that are as in the table of resources, and rejects one that lacks an index", async () => {
  const { runtime, call } = await createTestService();
  const { WORK_ITEMS_TABLE: table } = runtime.environment;
  const engine = new DynamoDBClient({});
  const { s3, sqs } = runtime;
  const again = () => provision({ dynamodb: engine, s3, sqs }, table.slice(0, -"WorkItems".length));

  const body = { work_items: [{ external_id: "A", agent_external_id: "ann" }] };
  expect((await call("applyWorkItemBatch", { body })).status).toBe(200);
  await again();
  expect((await call("listWorkItems", { query: { agent_external_id: "ann" } })).body.data).toHaveLength(1);

  await engine.send(
    new UpdateTableCommand({ TableName: table, GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: "agents" } }] }),
  );
  // DynamoDB, unlike the embedded engine, deletes an index in the background.
  const indexes = async () => {
    const { Table: kept } = await engine.send(new DescribeTableCommand({ TableName: table }));
    return kept?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName);
  };
  await expect.poll(indexes).toEqual(["listing", "open_jobs"]);
  await expect(again()).rejects.toThrow(`the kept table ${table} has other keys or indexes than lib/resources.ts`);
  expect(await indexes()).toEqual(["listing", "open_jobs"]);
});

test("makes the tables that the template makes", async () => {
  const { environment } = await createTestRuntime();
  const engine = new DynamoDBClient({});
  for (const [id, template] of resourcesOf(us, "AWS::DynamoDB::Table")) {
    const name = id.replace(/^Tables(\w+)[0-9A-F]{8}$/, "$1");
    const made = Object.values(environment).find((value) => String(value).endsWith(`-${name}`));
    const { Table } = await engine.send(new DescribeTableCommand({ TableName: String(made) }));
    expect(Table).toMatchObject({
      KeySchema: template["KeySchema"],
      AttributeDefinitions: expect.arrayContaining(template["AttributeDefinitions"] as unknown[]),
    });
    const indexes = (Table?.GlobalSecondaryIndexes ?? []).map(({ IndexName, KeySchema, Projection }) => ({
      IndexName,
      KeySchema,
      Projection,
    }));
    const expected = (template["GlobalSecondaryIndexes"] ?? []) as unknown[];
    expect(indexes).toHaveLength(expected.length);
    expect(indexes).toEqual(expect.arrayContaining(expected));
    const { StreamViewType: view } = (template["StreamSpecification"] ?? {}) as { StreamViewType?: string };
    // The stream with images is for a replica, which only a deployed table has.
    expect(Table?.StreamSpecification?.StreamViewType).toBe(view === "NEW_AND_OLD_IMAGES" ? undefined : view);
  }
});

test("makes the queues that the template makes", async () => {
  const { sqs, environment } = await createTestRuntime();
  const attributesOf = async (QueueUrl: string) =>
    (await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }))).Attributes ?? {};
  const templateOf = (path: string): Record<string, unknown> =>
    us.Resources[idOf(us, path, "AWS::SQS::Queue")]?.Properties ?? {};
  const TAKEN = [
    "VisibilityTimeout",
    "MessageRetentionPeriod",
    "FifoQueue",
    "DeduplicationScope",
    "FifoThroughputLimit",
  ];
  /** What a queue has of the attributes that the template gives it, and whether it is a FIFO queue. */
  const asInTemplate = async (path: string, url: string): Promise<void> => {
    const made = await attributesOf(url);
    const template = Object.entries(templateOf(path)).filter(([name]) => TAKEN.includes(name));
    expect(made).toMatchObject(Object.fromEntries(template.map(([name, value]) => [name, String(value)])));
    expect(made["FifoQueue"]).toBe(Object.fromEntries(template)["FifoQueue"] === true ? "true" : undefined);
  };
  const queues = resourcesOfKind("queue").map(([, queue]) => ({
    ...queue,
    url: environment[queue.variable as "SPLIT_QUEUE_URL"],
    redrive: templateOf(queue.id)["RedrivePolicy"] as { maxReceiveCount: number } | undefined,
  }));
  for (const { id, url } of queues) await asInTemplate(id, url);
  for (const { url } of queues.filter(({ redrive }) => redrive === undefined)) {
    expect(await attributesOf(url)).not.toHaveProperty("RedrivePolicy");
  }
  for (const { id, url, redrive } of queues.filter((queue) => queue.redrive !== undefined)) {
    const dead = deadLettersOf(url);
    await asInTemplate(`${id}DeadLetters`, dead);
    expect(JSON.parse((await attributesOf(url))["RedrivePolicy"] ?? "")).toEqual({
      deadLetterTargetArn: (await attributesOf(dead))["QueueArn"],
      maxReceiveCount: redrive?.maxReceiveCount,
    });
  }
});
