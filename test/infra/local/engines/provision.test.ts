import { DescribeTableCommand, DynamoDBClient, UpdateTableCommand } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import { provision } from "../../../../infra/local/engines/provision.ts";
import { synthesize } from "../../../../infra/local/synthesis.ts";
import { ResolvedTemplate } from "../../../../infra/local/template.ts";
import { createTestService } from "../../../support/service.ts";

test("keeps tables that are as in the template, and rejects one that lacks an index", async () => {
  const { runtime, call } = await createTestService();
  const { WORK_ITEMS_TABLE: table } = runtime.environment;
  const engine = new DynamoDBClient({});
  const { template: raw, region } = await synthesize();
  const template = new ResolvedTemplate({
    template: raw,
    stackName: table.slice(0, table.lastIndexOf("-")),
    region,
    sqsEndpoint: process.env["AWS_ENDPOINT_URL_SQS"] ?? "",
  });
  const { s3, sqs } = runtime;
  const again = () => provision(template, { dynamodb: engine, s3, sqs });

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
  await expect.poll(indexes).toEqual(["listing"]);
  await expect(again()).rejects.toThrow(`the kept table ${table} has other keys or indexes than the template`);
  expect(await indexes()).toEqual(["listing"]);
});
