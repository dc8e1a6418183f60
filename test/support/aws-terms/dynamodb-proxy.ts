import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Clock } from "../../../lib/clock.ts";
import type { Proxy } from "./engine-proxy.ts";
import { type Capacity, createCapacity } from "./capacity.ts";
import { createConflicts } from "./conflicts.ts";
import { type DynamoDbTerms, OPERATIONS, THROTTLED_MESSAGE } from "./dynamodb-operations.ts";
import { createParts, followWrites, type Part } from "./dynamodb-parts.ts";
import type { Faults } from "./faults.ts";
import { jsonError, type JsonResponse, startJsonProxy } from "./json-proxy.ts";
import { withServiceFaults } from "./service-faults.ts";
import { kindOf } from "./touched-items.ts";

/** Options of the DynamoDB proxy. */
export interface DynamoDbProxyOptions {
  readonly engineEndpoint: string;
  readonly faults: Faults;
  /** Factor for the limits of partitions and tables. @default 1 */
  readonly capacityScale?: number | undefined;
  /** By which capacity grows again. @default Date.now */
  readonly clock?: Clock | undefined;
}

/** A running proxy of DynamoDB. */
export interface DynamoDbProxy extends Proxy {
  /** Waits until all indexes show all writes. */
  readonly indexesSettled: () => Promise<void>;
}

interface Consumed {
  readonly TableName?: string;
  readonly Table?: { readonly CapacityUnits?: number };
  readonly GlobalSecondaryIndexes?: Readonly<Record<string, { readonly CapacityUnits?: number }>>;
}

/** Both names occur: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html. */
const THROTTLED_TYPES = ["ThrottlingException", "ProvisionedThroughputExceededException"];

/**
 * The units that a request has used, as the engine counts them. It counts by table and index: the items in the request
 * have equal shares. A failed request has no count: it used the least, as a write whose condition fails does.
 */
function settleUses({ settle }: Capacity, parts: readonly Part[], { body }: JsonResponse): void {
  const counted = [body["ConsumedCapacity"] ?? []].flat() as Consumed[];
  const uses = parts.flatMap((part) => part.uses);
  for (const use of uses) {
    const { resource, index } = use;
    const table = counted.find(({ TableName }) => TableName === resource || TableName?.startsWith(`${resource}.`));
    if (table === undefined) continue;
    const units = (index === undefined ? table.Table : table.GlobalSecondaryIndexes?.[index])?.CapacityUnits ?? 0;
    settle(use, units / uses.filter((other) => other.resource === resource && other.index === index).length);
  }
}

/**
 * Starts a proxy that serves an engine as DynamoDB serves it: with limits for each partition and table, indexes that
 * lag, transactions that conflict, and requests that fail or whose responses are lost.
 */
export async function startDynamoDbProxy(options: DynamoDbProxyOptions): Promise<DynamoDbProxy> {
  const { engineEndpoint, faults, capacityScale, clock = Date.now } = options;
  const engine = new DynamoDBClient({
    endpoint: engineEndpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  const capacity = createCapacity(clock, capacityScale);
  const conflicts = createConflicts(faults.below);
  const { partsOf, indexesSettled } = createParts(engine, faults);

  const carryOut: DynamoDbTerms["carryOut"] = async (request, parts, input) => {
    const { status, body } = await request.forward({ ...input, ReturnConsumedCapacity: "INDEXES" });
    settleUses(capacity, parts, { status, body });
    if (kindOf(request.operation) === "write") followWrites(parts);
    const { ConsumedCapacity, ...rest } = body;
    const isAsked = (input["ReturnConsumedCapacity"] ?? "NONE") !== "NONE";
    return { status, body: isAsked && ConsumedCapacity !== undefined ? { ...rest, ConsumedCapacity } : rest };
  };
  const throttled = (): JsonResponse =>
    jsonError(400, THROTTLED_TYPES[faults.below(THROTTLED_TYPES.length)] ?? "", THROTTLED_MESSAGE);
  const terms: DynamoDbTerms = {
    isThrottled: ({ uses, isIndexBehind }) => {
      if (isIndexBehind) {
        faults.count("index behind");
        return true;
      }
      const isOver = !capacity.admit(uses);
      if (isOver) faults.count("over capacity");
      return isOver;
    },
    isConflict: (kind, { item }) => {
      const isReal = conflicts.isConflict(kind, item);
      if (isReal) faults.count("conflict that came about");
      return isReal || faults.occurs("conflict");
    },
    occurs: faults.occurs,
    throttled,
    carryOut,
    write: (kind, request, parts, input) => {
      const items = parts.map(({ item }) => item);
      return conflicts.during(kind, items, () => carryOut(request, parts, input));
    },
  };

  const serve = withServiceFaults(faults, throttled, async (request) => {
    const parts = await partsOf(request);
    return OPERATIONS[request.operation]?.(terms, request, parts) ?? request.forward();
  });
  const proxy = await startJsonProxy(engineEndpoint, (request) =>
    Object.hasOwn(OPERATIONS, request.operation) ? serve(request) : request.forward(),
  );
  return {
    endpoint: proxy.endpoint,
    indexesSettled,
    stop: async () => {
      await proxy.stop();
      await indexesSettled();
      engine.destroy();
    },
  };
}
