import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { deriveId, workItemId } from "../../lib/identity.ts";
import { createTestRuntime } from "../support/runtime.ts";

describe("identity", () => {
  it("derives a UUID of version 8 that depends on every component of the key", () => {
    expect(workItemId("acme", "INC1")).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(workItemId("acme", "INC1")).toBe(workItemId("acme", "INC1"));
    expect(deriveId("work item", "ab", "c")).not.toBe(deriveId("work item", "a", "bc"));
    expect(deriveId("work item", "a", "b")).not.toBe(deriveId("work item event", "a", "b"));
  });
  it("reaches the embedded engines", async () => {
    const { dynamodb, environment } = await createTestRuntime();
    await dynamodb.send(new PutCommand({ TableName: environment.WORK_ITEMS_TABLE, Item: { pk: "a", sk: "b" } }));
    const { Item } = await dynamodb.send(
      new GetCommand({ TableName: environment.WORK_ITEMS_TABLE, Key: { pk: "a", sk: "b" } }),
    );
    expect(Item).toEqual({ pk: "a", sk: "b" });
  });
});
