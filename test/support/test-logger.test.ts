import { expect, test } from "vitest";
import { createTestService } from "./service.ts";
import { takeCause } from "./test-logger.ts";

test("a response with status 500 leaves its cause for the report of a failed test", async () => {
  const { runtime, call } = await createTestService();
  const params = { id: "5f0c2f6e-0000-4000-8000-000000000000" };
  expect(await call("getWorkItem", { params })).toMatchObject({ status: 404 });
  expect(takeCause()).toBeUndefined();
  runtime.dynamodb.send = () => {
    throw new TypeError("send is broken");
  };
  expect(await call("getWorkItem", { params })).toMatchObject({ status: 500 });
  const cause = takeCause();
  expect(cause).toMatchObject({ name: "TypeError", message: "a response had status 500: send is broken" });
  expect(cause?.stack).toContain("functions/get-work-item.ts");
  expect(takeCause()).toBeUndefined();
});
