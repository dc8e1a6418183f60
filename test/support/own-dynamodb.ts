import { afterAll } from "vitest";
import { portIfFree, startDynamoDbProcess } from "../../apps/local/engines/dynamodb.ts";
import { useDynamoDb, useEndpoint } from "./engines.ts";

// Each worker makes its tables in a DynamoDB of its own.
useDynamoDb(Number(process.env["VITEST_POOL_ID"]));

/** A command, before its port, that serves another DynamoDB: each file gets one, since it is the slower, the more tables it has. */
const command = process.env["DYNAMODB_COMMAND"]?.split(" ");
if (command !== undefined) {
  const host = "0.0.0.0";
  // One of many, so that no two workers find the same one.
  const engine = await startDynamoDbProcess((port) => [...command, String(port)], host, await portIfFree(host, 0));
  process.env["DYNAMODB_ENDPOINT"] = engine.endpoint;
  useEndpoint(engine.endpoint);
  afterAll(() => engine.stop());
}
