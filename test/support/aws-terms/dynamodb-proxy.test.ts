import { randomUUID } from "node:crypto";
import {
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type DynamoDbProxy, startDynamoDbProxy } from "./dynamodb-proxy.ts";
import { startJsonProxy } from "./json-proxy.ts";
import { createTestClock, type TestClock } from "../clock.ts";
import { createFaults, type FaultRates } from "./faults.ts";

const TableName = `terms-${randomUUID()}`;
const engineEndpoint = process.env["AWS_ENDPOINT_URL_DYNAMODB"] ?? "";
const S = (text: string) => ({ S: text });

let partition: string;
const item = (sk: string, attributes: Record<string, { S: string }> = {}) => ({
  pk: S(partition),
  sk: S(sk),
  ...attributes,
});
const entry = (sk: string, place = sk) => item(sk, { listing_pk: S(partition), listing_sk: S(place) });

let proxy: DynamoDbProxy;
let dynamodb: DynamoDBClient;
let clock: TestClock;
let counts: () => Readonly<Record<string, number>>;

/** Starts a proxy with some faults and a clock that stands still, and a client that tries each request once. */
const start = async (rates: FaultRates, capacityScale = 1, endpoint = engineEndpoint): Promise<void> => {
  clock = createTestClock();
  const faults = createFaults(1, "dynamodb", rates);
  proxy = await startDynamoDbProxy({ engineEndpoint: endpoint, faults, capacityScale, clock });
  dynamodb = new DynamoDBClient({ endpoint: proxy.endpoint, maxAttempts: 1 });
  ({ counts } = faults);
};
const put = (Item: ReturnType<typeof item>) => dynamodb.send(new PutItemCommand({ TableName, Item }));
const get = async (sk: string) => {
  const { Item } = await dynamodb.send(new GetItemCommand({ TableName, Key: item(sk), ConsistentRead: true }));
  return Item;
};
/** Names of the errors of requests, or "done". */
const outcomes = async (requests: readonly Promise<unknown>[]): Promise<string[]> =>
  Promise.all(
    requests.map((request) =>
      request.then(
        () => "done",
        (error: Error) => error.name,
      ),
    ),
  );
const listed = async (place: "listing_pk" | "pk" = "listing_pk") => {
  const { Items = [] } = await dynamodb.send(
    new QueryCommand({
      TableName,
      ...(place === "listing_pk" && { IndexName: "listing" }),
      KeyConditionExpression: `${place} = :p`,
      ExpressionAttributeValues: { ":p": S(partition) },
    }),
  );
  return Items.map(({ sk }) => sk?.S);
};

beforeAll(async () => {
  const engine = new DynamoDBClient({});
  const key = (AttributeName: string, KeyType: "HASH" | "RANGE") => ({ AttributeName, KeyType });
  await engine.send(
    new CreateTableCommand({
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [key("pk", "HASH"), key("sk", "RANGE")],
      AttributeDefinitions: ["pk", "sk", "listing_pk", "listing_sk"].map((AttributeName) => ({
        AttributeName,
        AttributeType: "S",
      })),
      GlobalSecondaryIndexes: [
        {
          IndexName: "listing",
          KeySchema: [key("listing_pk", "HASH"), key("listing_sk", "RANGE")],
          Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["type"] },
        },
      ],
    }),
  );
  engine.destroy();
});
beforeEach(() => {
  partition = randomUUID();
});
afterEach(async () => {
  dynamodb.destroy();
  await proxy.stop();
});

describe("DynamoDB on AWS's terms", () => {
  it("serves as the engine does without faults", async () => {
    await start({});
    await put(item("1", { type: S("call") }));
    expect(await get("1")).toEqual(item("1", { type: S("call") }));
    const failing = new PutItemCommand({ TableName, Item: item("1"), ConditionExpression: "attribute_not_exists(pk)" });
    expect(await outcomes([dynamodb.send(failing)])).toEqual(["ConditionalCheckFailedException"]);
    expect(await put(item("2"))).not.toHaveProperty("ConsumedCapacity");
    const counted = new PutItemCommand({ TableName, Item: item("2"), ReturnConsumedCapacity: "TOTAL" });
    expect((await dynamodb.send(counted)).ConsumedCapacity).toMatchObject({ TableName, CapacityUnits: 1 });
  });

  it("throttles a partition at its limit, for reads and writes apart, and no other partition", async () => {
    await start({}, 0.02);
    const writes = await outcomes(Array.from({ length: 60 }, (_, index) => put(item(String(index)))));
    const refused = writes.filter((name) => name !== "done");
    expect(refused.length).toBe(40);
    expect([...new Set(refused)].toSorted()).toEqual(["ProvisionedThroughputExceededException", "ThrottlingException"]);
    const reads = await outcomes(Array.from({ length: 100 }, () => get("0")));
    // The client has 50 connections: so many more than the limit of 60 can be admitted, by half a unit each, before it
    // is known that consistent reads use a whole one.
    expect(reads.filter((name) => name === "done").length).toBeLessThanOrEqual(60 + 50 / 2);
    clock.advance(100);
    expect(await outcomes([put(item("1")), put(item("2")), put(item("3"))])).toContain("done");
    expect(await outcomes([put(item("1"))])).not.toEqual(["done"]);
    partition = randomUUID();
    expect(await outcomes([put(item("0"))])).toEqual(["done"]);
  });

  it("throttles the writes that would change a hot partition of an index, and no others", async () => {
    await start({}, 0.02);
    const hot = { listing_pk: S(`hot ${partition}`), listing_sk: S("1") };
    const write = (attributes: Record<string, { S: string }>) => {
      partition = randomUUID();
      return put(item("1", attributes));
    };
    const written = await outcomes(Array.from({ length: 60 }, () => write(hot)));
    expect(written.filter((name) => name === "done").length).toBe(20);
    expect(await outcomes([write(hot), write({})])).toEqual([expect.stringMatching(/Exce/), "done"]);
  });

  it("shows writes in an index up to two seconds later, in the order of the index", async () => {
    await start({});
    const isLate = async (sk: string): Promise<boolean> => {
      await put(entry(sk));
      expect(await listed("pk")).toContain(sk);
      return !(await listed()).includes(sk);
    };
    // On a machine that is busy, an index may be as fast as its reader now and then.
    const late = [await isLate("3"), await isLate("1"), await isLate("2")];
    expect(late).toContain(true);
    await proxy.indexesSettled();
    expect(await listed()).toEqual(["1", "2", "3"]);

    const Key = item("1");
    const remove = { TableName, Key, UpdateExpression: "REMOVE listing_pk, listing_sk" };
    const move = { ...remove, Key: item("2"), UpdateExpression: "SET listing_sk = :place" };
    await dynamodb.send(new UpdateItemCommand(remove));
    await dynamodb.send(new UpdateItemCommand({ ...move, ExpressionAttributeValues: { ":place": S("9") } }));
    await proxy.indexesSettled();
    expect(await listed()).toEqual(["3", "2"]);
  });

  it("throttles the writes that an index cannot follow, and no others, until it has followed", async () => {
    const held = Promise.withResolvers<void>();
    let isHolding = false;
    const engine = await startJsonProxy(engineEndpoint, async ({ operation, forward }) => {
      if (isHolding && operation === "BatchWriteItem") await held.promise;
      return forward();
    });
    await start({}, 1, engine.endpoint);
    // The first request copies the index.
    expect(await get("1")).toBeUndefined();
    isHolding = true;
    try {
      await expect
        .poll(() => outcomes([put(entry("1")), put(item("2"))]), { timeout: 60_000 })
        .toEqual([expect.stringMatching(/Exce/), "done"]);
      expect(counts()).toEqual({ "index behind": expect.any(Number) });
      expect(await listed()).toEqual([]);
    } finally {
      held.resolve();
    }
    await proxy.indexesSettled();
    expect(await outcomes([put(entry("3"))])).toEqual(["done"]);
    await proxy.indexesSettled();
    expect(await listed()).toEqual(["1", "3"]);
    await proxy.stop();
    await engine.stop();
  });

  it("rejects a write to an item that a transaction writes to, and a transaction on an item that is written", async () => {
    await start({});
    await put(item("1"));
    const transact = () =>
      dynamodb.send(new TransactWriteItemsCommand({ TransactItems: [{ Put: { TableName, Item: item("1") } }] }));
    // They meet only if they arrive at the same time.
    await expect
      .poll(() => outcomes([transact(), transact(), put(item("1")), put(item("2"))]))
      .toEqual(["done", "TransactionCanceledException", "TransactionConflictException", "done"]);
  });

  it("leaves keys unprocessed, and reads them all when they are requested again", async () => {
    await start({ unprocessed: 0.5 });
    const names = Array.from({ length: 20 }, (_, index) => String(index));
    for (const sk of names) await put(item(sk));
    const found: unknown[] = [];
    let requests = 0;
    let Keys: Record<string, unknown>[] = names.map((sk) => item(sk));
    for (; Keys.length > 0; requests++) {
      const RequestItems = { [TableName]: { Keys: Keys as never, ConsistentRead: true } };
      const read = await dynamodb.send(new BatchGetItemCommand({ RequestItems })).catch(() => undefined);
      if (!read) continue;
      found.push(...(read.Responses?.[TableName] ?? []).map(({ sk }) => sk?.S));
      Keys = read.UnprocessedKeys?.[TableName]?.Keys ?? [];
    }
    expect(requests).toBeGreaterThan(2);
    expect(found).toHaveLength(names.length);
    expect(new Set(found)).toEqual(new Set(names));
  });

  it("throttles single statements of a batch; the others are carried out", async () => {
    await start({ "statement throttled": 0.5 });
    const names = Array.from({ length: 20 }, (_, index) => String(index));
    const { Responses = [] } = await dynamodb.send(
      new BatchExecuteStatementCommand({
        Statements: names.map((sk) => ({
          Statement: `INSERT INTO "${TableName}" VALUE {'pk': ?, 'sk': ?, 'listing_pk': ?, 'listing_sk': ?}`,
          Parameters: [S(partition), S(sk), S(partition), S(sk)],
        })),
      }),
    );
    const done = names.filter((_, index) => Responses[index]?.Error === undefined);
    expect(done.length).toBeGreaterThan(2);
    expect(done.length).toBeLessThan(18);
    expect(Responses.find(({ Error }) => Error)?.Error?.Code).toBe("ThrottlingError");
    expect(await listed("pk")).toEqual(done.toSorted());
    await proxy.indexesSettled();
    expect(await listed()).toEqual(done.toSorted());
  });

  it("fails before or after it has written, ends connections after it has written, and denies access", async () => {
    for (const [fault, name, isWritten] of [
      ["throttled", /Exceeded|Throttling/, false],
      ["server fault", /InternalServerError/, false],
      ["server fault after", /InternalServerError/, true],
      ["lost response", /Error/, true],
      ["expired", /ExpiredTokenException/, false],
      ["denied", /AccessDeniedException/, false],
      ["conflict", /TransactionConflictException/, false],
    ] as const) {
      const rates: Partial<Record<string, number>> = { [fault]: 1 };
      await start(rates);
      expect(await outcomes([put(item(fault))]), fault).toEqual([expect.stringMatching(name)]);
      expect(counts()).toMatchObject({ [fault]: 1 });
      rates[fault] = 0;
      expect(await get(fault), fault).toEqual(isWritten ? item(fault) : undefined);
      dynamodb.destroy();
      await proxy.stop();
    }
  });

  it("keeps the limits of 1 MB a page, 16 MB a BatchGetItem and 4 MB a transaction", async () => {
    await start({}, 100);
    const large = (sk: string) => item(sk, { text: S("x".repeat(390_000)) });
    const names = Array.from({ length: 50 }, (_, index) => String(index + 10));
    for (const sk of names) await put(large(sk));
    const page = await listed("pk");
    expect(page.length).toBeLessThan(6);
    const { Responses, UnprocessedKeys } = await dynamodb.send(
      new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: names.map((sk) => item(sk)) } } }),
    );
    expect(Responses?.[TableName]?.length).toBeLessThan(50);
    expect((Responses?.[TableName]?.length ?? 0) + (UnprocessedKeys?.[TableName]?.Keys?.length ?? 0)).toBe(50);
    const TransactItems = names.slice(0, 12).map((sk) => ({ Put: { TableName, Item: large(sk) } }));
    expect(await outcomes([dynamodb.send(new TransactWriteItemsCommand({ TransactItems }))])).toEqual([
      "ValidationException",
    ]);
  });

  it("gives the same faults to the same requests with the same seed", async () => {
    const run = async (): Promise<string[]> => {
      const results: string[] = [];
      await start({ throttled: 0.2, conflict: 0.2, "server fault": 0.2 });
      for (let index = 0; index < 30; index++) results.push(...(await outcomes([put(item(String(index)))])));
      dynamodb.destroy();
      await proxy.stop();
      return results;
    };
    const first = await run();
    expect(new Set(first).size).toBeGreaterThan(3);
    expect(await run()).toEqual(first);
  });
});
