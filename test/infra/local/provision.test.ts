import { DescribeTableCommand, DynamoDBClient, UpdateTableCommand } from "@aws-sdk/client-dynamodb";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, it } from "vitest";
import { reindexKeptOrganizations } from "../../../infra/local/kept-organizations.ts";
import { provision } from "../../../infra/local/provision.ts";
import { synthesize } from "../../../infra/local/synthesis.ts";
import { type ResolvedTemplate, resolveTemplate } from "../../../infra/local/template.ts";
import { changeOrganization, getOrganization } from "../../../lib/organizations/administration.ts";
import { itemKeyOf } from "../../../lib/work-items/work-item-record.ts";
import { createTestService } from "../../support/service.ts";

describe("tables that were kept from an earlier version", () => {
  let service: Awaited<ReturnType<typeof createTestService>>;
  let template: ResolvedTemplate;
  const engine = new DynamoDBClient({});
  const indexesOf = async (table: string) => {
    const { Table: { GlobalSecondaryIndexes = [] } = {} } = await engine.send(
      new DescribeTableCommand({ TableName: table }),
    );
    return GlobalSecondaryIndexes.map(({ IndexName }) => String(IndexName)).toSorted();
  };

  beforeAll(async () => {
    service = await createTestService();
    const { WORK_ITEMS_TABLE: table } = service.runtime.environment;
    const { template: raw, region } = await synthesize();
    const stackName = table.slice(0, table.lastIndexOf("-"));
    template = resolveTemplate({
      template: raw,
      stackName,
      region,
      sqsEndpoint: process.env["AWS_ENDPOINT_URL_SQS"] ?? "",
    });
  });

  it("get the index of agents, and the items that they hold get into it", async () => {
    const { runtime, organization, call } = service;
    const { WORK_ITEMS_TABLE: table } = runtime.environment;
    const items = Array.from({ length: 100 }, (_, index) => ({ external_id: `I${index}`, agent_external_id: "ann" }));
    expect((await call("applyWorkItemBatch", { body: { work_items: items } })).status).toBe(200);
    for (const { external_id: id } of items) {
      await runtime.dynamodb.send(
        new UpdateCommand({
          TableName: table,
          Key: itemKeyOf(organization.id, id),
          UpdateExpression: "REMOVE agent_pk",
        }),
      );
    }
    await changeOrganization(runtime, organization.id, { agents_indexed: false });
    await engine.send(
      new UpdateTableCommand({ TableName: table, GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: "agents" } }] }),
    );
    expect(await indexesOf(table)).toEqual(["listing"]);

    const { s3, sqs } = runtime;
    await provision(template, { dynamodb: engine, s3, sqs });
    expect(await indexesOf(table)).toEqual(["agents", "listing"]);

    const stop = reindexKeptOrganizations(runtime.dynamodb, runtime.environment);
    await expect.poll(async () => (await getOrganization(runtime, organization.id)).agents_indexed).toBe(true);
    await stop();
    const listed = await call("listWorkItems", { query: { agent_external_id: "ann", limit: 100 } });
    expect(listed.body["data"]).toHaveLength(100);
  });
});
