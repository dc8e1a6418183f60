import { BatchWriteCommand, QueryCommand, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import { expect, it } from "vitest";
import { createTestRuntime } from "../../../support/runtime.ts";

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html
it("a Query that stops at its limit names a last key although nothing follows, as DynamoDB does", async () => {
  const { dynamodb, environment } = await createTestRuntime();
  const TableName = environment.WORK_ITEMS_TABLE;
  const records = ["0", "1", "2"].map((place) => ({
    pk: "a",
    sk: place,
    listing_pk: "l",
    listing_sk: place,
    type: "x",
  }));
  const requests = records.map((Item) => ({ PutRequest: { Item } }));
  await dynamodb.send(new BatchWriteCommand({ RequestItems: { [TableName]: requests } }));
  const inTable = { KeyConditionExpression: "pk = :p", ExpressionAttributeValues: { ":p": "a" } };
  const inIndex = {
    IndexName: "listing",
    KeyConditionExpression: "listing_pk = :p",
    ExpressionAttributeValues: { ":p": "l" },
    ProjectionExpression: "listing_sk",
  };
  const noneLeft = { FilterExpression: "#t = :t", ExpressionAttributeNames: { "#t": "type" } };
  const last = async (input: Omit<QueryCommandInput, "TableName">) =>
    (await dynamodb.send(new QueryCommand({ TableName, ...input }))).LastEvaluatedKey;
  const [, , third] = records;
  const { type: _, ...keys } = third!;
  expect(await last({ ...inTable, Limit: 3 })).toEqual({ pk: "a", sk: "2" });
  expect(await last({ ...inTable, Limit: 4 })).toBeUndefined();
  expect(await last({ ...inIndex, Limit: 3 })).toEqual(keys);
  expect(await last({ ...inIndex, Limit: 4 })).toBeUndefined();
  const filtered = { ...inIndex, ...noneLeft, ExpressionAttributeValues: { ":p": "l", ":t": "none" } };
  expect(await last({ ...filtered, Limit: 3 })).toEqual(keys);
});
