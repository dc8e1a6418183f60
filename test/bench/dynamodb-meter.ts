import type { TestRuntime } from "../support/runtime.ts";

const READS: readonly string[] = ["GetItemCommand", "BatchGetItemCommand", "QueryCommand"];

interface Consumed {
  readonly TableName?: string;
  readonly CapacityUnits?: number;
}

/** What requests to one table used, by DynamoDB's responses. */
export interface DynamoDbUse {
  requests: number;
  readUnits: number;
  writeUnits: number;
}

type Table = "WORK_ITEMS_TABLE" | "ACCESS_TABLE" | "LIMITS_TABLE";

/**
 * Counts the requests to a table, and the capacity units in their responses.
 * @returns a function that runs something and returns what it used
 */
export const meterDynamoDb = (
  { dynamodb, environment }: Pick<TestRuntime, "dynamodb" | "environment">,
  table: Table = "WORK_ITEMS_TABLE",
) => {
  const use: DynamoDbUse = { requests: 0, readUnits: 0, writeUnits: 0 };
  let isMetering = false;
  dynamodb.middlewareStack.add(
    (next, context) => async (request) => {
      if (!isMetering) return next(request);
      Object.assign(request.input, { ReturnConsumedCapacity: "TOTAL" });
      const response = await next(request);
      const { ConsumedCapacity = [] } = response.output as { ConsumedCapacity?: Consumed | Consumed[] };
      const consumed = [ConsumedCapacity].flat().filter(({ TableName }) => TableName === environment[table]);
      if (consumed.length === 0) return response;
      const units = consumed.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
      use[READS.includes(String(context.commandName)) ? "readUnits" : "writeUnits"] += units;
      use.requests++;
      return response;
    },
    { step: "initialize", priority: "high", name: `meter ${table}` },
  );
  return async (run: () => Promise<unknown>): Promise<DynamoDbUse> => {
    Object.assign(use, { requests: 0, readUnits: 0, writeUnits: 0 });
    isMetering = true;
    try {
      await run();
    } finally {
      isMetering = false;
    }
    return { ...use };
  };
};
