import { useDynamoDb } from "./engines.ts";

// Each worker makes its tables in a DynamoDB of its own.
useDynamoDb(Number(process.env["VITEST_POOL_ID"]));
