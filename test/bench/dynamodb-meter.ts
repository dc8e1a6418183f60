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

type Table = "WORK_ITEMS_TABLE" | "ACCESS_TABLE" | "CHANGES_TABLE" | "LIMITS_TABLE";

/** Whether a request is for records of work items, and not for those of uploads, which are in the same table. */
export const isForItems = (input: object): boolean => JSON.stringify(input).includes("ITEM#");

/**
 * Counts the requests to a table, and the capacity units in their responses.
 * @param isCounted whether a request counts, by its input
 * @returns a function that runs something and returns what it used
 */
export const meterDynamoDb = (
  { dynamodb, environment }: Pick<TestRuntime, "dynamodb" | "environment">,
  table: Table = "WORK_ITEMS_TABLE",
  isCounted: (input: object) => boolean = () => true,
) => {
  const use: DynamoDbUse = { requests: 0, readUnits: 0, writeUnits: 0 };
  let isMetering = false;
  dynamodb.middlewareStack.add(
    (next, context) => async (request) => {
      if (!isMetering || !isCounted(request.input)) return next(request);
      Object.assign(request.input, { ReturnConsumedCapacity: "TOTAL" });
      const response = await next(request).catch((error: unknown) => {
        // A request whose condition fails is one too. Its response holds no units.
        if ((request.input as Consumed).TableName === environment[table]) use.requests++;
        throw error;
      });
      const { ConsumedCapacity = [] } = response.output as { ConsumedCapacity?: Consumed | Consumed[] };
      const consumed = [ConsumedCapacity].flat().filter(({ TableName }) => TableName === environment[table]);
      if (consumed.length === 0) return response;
      const units = consumed.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
      use[READS.includes(String(context.commandName)) ? "readUnits" : "writeUnits"] += units;
      use.requests++;
      return response;
    },
    { step: "initialize", priority: "high" },
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
