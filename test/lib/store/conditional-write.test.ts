import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { PutCommand, TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, it } from "vitest";
import { tryOnce, tryWrite, writeConditionally } from "../../../lib/store/conditional-write.ts";
import { type Fault, injectFaults } from "../../support/faults.ts";
import { createTestRuntime } from "../../support/runtime.ts";

const key = { pk: "RECORD#1", sk: "#" };
let runtime: Awaited<ReturnType<typeof createTestRuntime>>;
beforeEach(async () => {
  runtime = await createTestRuntime();
});

const put = (attributes: object = {}) =>
  new PutCommand({
    TableName: runtime.environment.WORK_ITEMS_TABLE,
    Item: { ...key, ...attributes },
    ConditionExpression: "attribute_not_exists(pk)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
const count = () =>
  new UpdateCommand({
    TableName: runtime.environment.WORK_ITEMS_TABLE,
    Key: key,
    UpdateExpression: "SET times = if_not_exists(times, :none) + :one",
    ConditionExpression: "attribute_not_exists(times) OR times < :one",
    ExpressionAttributeValues: { ":none": 0, ":one": 1 },
    ReturnValues: "ALL_NEW",
  });
const transaction = () => {
  const { TableName, Item, ConditionExpression } = put().input;
  return new TransactWriteCommand({ TransactItems: [{ Put: { TableName, Item, ConditionExpression } }] });
};
/** The first attempts of requests have these faults. */
const withFaults = (...faults: Fault[]): void => {
  injectFaults(runtime.dynamodb, () => faults.shift() ?? "none");
};
const kindOf = async (command: Parameters<typeof writeConditionally>[1]) =>
  (await writeConditionally(runtime.dynamodb, command)).kind;

describe("a conditional write", () => {
  it("is written, and shows the record if it is asked to", async () => {
    expect(await writeConditionally(runtime.dynamodb, put())).toEqual({ kind: "written", record: {} });
    expect(await tryWrite(runtime.dynamodb, count())).toEqual({ ...key, times: 1 });
  });

  it("is lost if its condition doesn't hold, and shows the record that others have written", async () => {
    await tryWrite(runtime.dynamodb, put({ by: "others" }));
    expect(await writeConditionally(runtime.dynamodb, put())).toMatchObject({
      kind: "lost",
      current: { ...key, by: "others" },
    });
    expect(await tryWrite(runtime.dynamodb, put())).toBeUndefined();
    expect(await kindOf(transaction())).toBe("lost");
    expect(await tryWrite(runtime.dynamodb, transaction())).toBeUndefined();
  });

  it.each([
    [["ConditionalCheckFailed", "None"], "lost"],
    [["TransactionConflict", "ConditionalCheckFailed"], "lost"],
    [["None", "TransactionConflict"], "busy"],
    [["ThrottlingError", "None"], "busy"],
    [["ProvisionedThroughputExceeded"], "busy"],
    [["None", "ValidationError"], "refused"],
  ])("of a transaction that is cancelled by %j is %s", async (codes, kind) => {
    const message = "Item size to update has exceeded the maximum allowed size";
    const CancellationReasons = codes.map((Code) => ({
      Code,
      ...(Code === "ValidationError" && { Message: message }),
    }));
    const cancel = async (): Promise<never> => {
      const $metadata = { httpStatusCode: 400, attempts: 1 };
      throw new TransactionCanceledException({ message: "cancelled", $metadata, CancellationReasons });
    };
    runtime.dynamodb.middlewareStack.add(() => cancel, { step: "initialize" });
    expect(await kindOf(transaction())).toBe(kind);
    const isLost = await tryWrite(runtime.dynamodb, transaction()).then(
      (record) => record === undefined,
      () => false,
    );
    expect(isLost).toBe(kind === "lost");
    const waits = await tryOnce(runtime.dynamodb, transaction()).catch(() => "thrown");
    expect(waits).toBe(kind === "refused" ? "thrown" : undefined);
  });

  it("has an unknown outcome if its condition doesn't hold after a lost response: it may have been carried out", async () => {
    withFaults("lost response");
    expect(await writeConditionally(runtime.dynamodb, count())).toMatchObject({ kind: "unknown", current: {} });
  });

  it("may be harmless to repeat: then a condition that its own first attempt made false just doesn't hold", async () => {
    withFaults("lost response");
    expect(await tryWrite(runtime.dynamodb, count())).toBeUndefined();
  });

  it("is carried out once as a transaction, although the client sends it again", async () => {
    withFaults("lost response");
    expect(await tryWrite(runtime.dynamodb, transaction())).toEqual({});
  });

  it("has an unknown outcome without a response", async () => {
    const [unreachable, throttled] = [Array<Fault>(3).fill("unreachable"), Array<Fault>(3).fill("throttled")];
    withFaults(...unreachable, ...throttled);
    expect(await writeConditionally(runtime.dynamodb, put())).toMatchObject({ kind: "unknown", current: undefined });
    await expect(tryWrite(runtime.dynamodb, put())).rejects.toThrow("ThrottlingException");
  });

  it("is refused if DynamoDB can't store the record, and meets an outage if there is no table", async () => {
    expect(await kindOf(put({ text: "x".repeat(500_000) }))).toBe("refused");
    const command = new PutCommand({ ...put().input, TableName: "none" });
    expect(await writeConditionally(runtime.dynamodb, command)).toMatchObject({
      kind: "outage",
      code: "ResourceNotFoundException",
      current: undefined,
    });
    await expect(tryWrite(runtime.dynamodb, command)).rejects.toMatchObject({ name: "ResourceNotFoundException" });
  });
});
