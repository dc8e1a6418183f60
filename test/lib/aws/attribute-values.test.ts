import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { BatchExecuteStatementCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { convertToAttr, convertToNative } from "@aws-sdk/util-dynamodb";
import * as fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it, test, vi } from "vitest";
import { fromAttributeValues, toAttributeValues } from "../../../lib/aws/attribute-values.ts";
import { createDynamoDbClient } from "../../../lib/aws/dynamodb-client.ts";

const scalar = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
  fc.boolean(),
  fc.constant(null),
);
/** The document client takes a map with a `constructor` of its own for an instance of a class, and refuses it. */
const nestedName = fc.string({ minLength: 1 }).filter((name) => name !== "constructor");
const value = fc.oneof(scalar, fc.array(scalar), fc.dictionary(nestedName, scalar));

describe("values of attributes", () => {
  it("are converted as the SDK's document client converts them", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), value), (attributes) => {
        const values = toAttributeValues(attributes);
        const expected = Object.entries(attributes).map(([name, each]) => [name, convertToAttr(each)] as const);
        expect(Object.entries(values)).toEqual(expected);
        const back = expected.map(([name, each]) => [name, convertToNative(each) as unknown]);
        expect(Object.entries(fromAttributeValues(values))).toEqual(back);
      }),
    );
  });

  it("are rejected if DynamoDB has no type for them", () => {
    expect(() => toAttributeValues({ number: Number.NaN })).toThrow("NaN");
    expect(() => toAttributeValues({ number: 2 ** 53 })).toThrow("9007199254740992");
  });

  it("may have the name of an object's prototype", () => {
    const attributes = Object.fromEntries([["__proto__", "text"]]);
    expect(Object.entries(fromAttributeValues(toAttributeValues(attributes)))).toEqual([["__proto__", "text"]]);
  });

  it("keep all digits of large integers", () => {
    expect(fromAttributeValues({ number: { N: "9007199254740993" } })).toEqual({ number: 9_007_199_254_740_993n });
  });
});

interface Received {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Record<string, unknown>;
}

/** Members without which a response is not DynamoDB's, by operation. */
const MEMBERS: Readonly<Record<string, object>> = {
  Query: { Count: 0 },
  BatchGetItem: { Responses: {} },
  BatchExecuteStatement: { Responses: [] },
};

const received: Received[] = [];
let failures = 0;
const serve = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
  const text = Buffer.concat(await Array.fromAsync(message)).toString();
  const { "x-amz-target": target, "content-type": type } = message.headers;
  received.push({ headers: { target, type }, body: JSON.parse(text) as Record<string, unknown> });
  response
    .writeHead(failures-- > 0 ? 500 : 200)
    .end(JSON.stringify(MEMBERS[String(target).split(".").at(-1) ?? ""] ?? {}));
};
const server = createServer((message, response) => void serve(message, response));

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterAll(() => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
});
afterEach(() => {
  received.length = 0;
  failures = 0;
});

const TableName = "table";
const Key = { pk: "a", sk: "b" };
const VALUES = {
  text: 'quotes " and \\, line\nend, NUL \0, ä, 😀, lone \uD800',
  empty: "",
  number: 12.5,
  large: 2n ** 70n,
  isSet: true,
  nothing: null,
  absent: undefined,
  list: [1, "two", [null]],
  nested: { "a.b": { c: false } },
};
const parameter = { S: VALUES.text };

const commands = {
  GetItem: () => new GetCommand({ TableName, Key, ConsistentRead: true }),
  PutItem: () => new PutCommand({ TableName, Item: { ...Key, ...VALUES }, ConditionExpression: undefined }),
  UpdateItem: () =>
    new UpdateCommand({ TableName, Key, UpdateExpression: "SET a = :a", ExpressionAttributeValues: { ":a": VALUES } }),
  Query: () =>
    new QueryCommand({ TableName, Limit: 3, ExclusiveStartKey: Key, ExpressionAttributeValues: { ":pk": "ä" } }),
  BatchGetItem: () => new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [Key, Key] } } }),
  BatchExecuteStatement: () =>
    new BatchExecuteStatementCommand({ Statements: [{ Statement: "INSERT", Parameters: [parameter, { N: "1" }] }] }),
  TransactWriteItems: () =>
    new TransactWriteCommand({ ClientRequestToken: "token", TransactItems: [{ Put: { TableName, Item: VALUES } }] }),
};

test.each(Object.entries(commands))("a %s is sent as the SDK sends it", async (_name, command) => {
  const theirs = DynamoDBDocumentClient.from(new DynamoDBClient({}), {
    marshallOptions: { removeUndefinedValues: true },
  });
  for (const client of [theirs, createDynamoDbClient()]) {
    await client.send(command() as GetCommand);
    client.destroy();
  }
  expect(received).toHaveLength(2);
  expect(received[1]).toEqual(received[0]);
});

test("a transaction is sent again with the same token, which the next one does not have", async () => {
  failures = 1;
  const client = createDynamoDbClient();
  const command = () => new TransactWriteCommand({ TransactItems: [{ Put: { TableName, Item: Key } }] });
  await client.send(command());
  await client.send(command());
  client.destroy();
  const [first, again, next] = received.map(({ body }) => body["ClientRequestToken"]);
  expect(first).toMatch(/^[0-9a-f-]{36}$/);
  expect(again).toBe(first);
  expect(next).not.toBe(first);
});
