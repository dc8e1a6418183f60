import type { Part } from "./dynamodb-parts.ts";
import type { FaultName } from "./faults.ts";
import { type JsonBody, jsonError, type JsonRequest, type JsonResponse } from "./json-proxy.ts";
import type { Item } from "./tables.ts";

/** What keeps DynamoDB from serving an item, and how it serves the others. */
export interface DynamoDbTerms {
  readonly isThrottled: (part: Part) => boolean;
  readonly isConflict: (kind: "single" | "transaction", part: Part) => boolean;
  readonly occurs: (fault: FaultName) => boolean;
  readonly throttled: () => JsonResponse;
  /** Sends the request with another input to the engine, which reads or writes these parts. */
  readonly carryOut: (request: JsonRequest, parts: readonly Part[], input: JsonBody) => Promise<JsonResponse>;
  /** Like `carryOut`. While it writes, its items conflict with other requests. */
  readonly write: (
    kind: "single" | "transaction",
    request: JsonRequest,
    parts: readonly Part[],
    input: JsonBody,
  ) => Promise<JsonResponse>;
}

type Operation = (terms: DynamoDbTerms, request: JsonRequest, parts: readonly Part[]) => Promise<JsonResponse>;

/** Why a request or statement was throttled. */
export const THROTTLED_MESSAGE =
  "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index";
const CONFLICT_MESSAGE = "Transaction is ongoing for the item";

/**
 * Keys that cannot be read are left unprocessed. Only if none can be, the request fails
 * (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html).
 */
const batchGet: Operation = async (terms, request, parts) => {
  const left = new Set(parts.filter((part) => terms.isThrottled(part) || terms.occurs("unprocessed")));
  if (left.size === parts.length) return terms.throttled();
  const asked = request.input["RequestItems"] as Readonly<Record<string, JsonBody>>;
  const requestFor = (chosen: readonly Part[]): Record<string, JsonBody> => {
    const byTable = Map.groupBy(chosen, ({ table }) => table);
    const keysOf = (some: readonly Part[]) => ({ Keys: some.map(({ attributes }) => attributes) });
    return Object.fromEntries([...byTable].map(([table, some]) => [table, { ...asked[table], ...keysOf(some) }]));
  };
  const served = parts.filter((part) => !left.has(part));
  const response = await terms.carryOut(request, served, { ...request.input, RequestItems: requestFor(served) });
  if (response.status !== 200) return response;
  const UnprocessedKeys = requestFor([...left]);
  // The engine leaves out what is beyond 16 MB.
  const more = (response.body["UnprocessedKeys"] ?? {}) as Readonly<Record<string, { readonly Keys: readonly Item[] }>>;
  for (const [table, { Keys, ...rest }] of Object.entries(more)) {
    const before = (UnprocessedKeys[table]?.["Keys"] ?? []) as readonly Item[];
    UnprocessedKeys[table] = { ...rest, Keys: [...before, ...Keys] };
  }
  return { ...response, body: { ...response.body, UnprocessedKeys } };
};

/**
 * Each statement of a batch has an outcome of its own
 * (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchStatementError.html).
 */
const batchExecuteStatement: Operation = async (terms, request, parts) => {
  const errors = parts.map((part) => {
    if (terms.isThrottled(part) || terms.occurs("statement throttled")) {
      return { Code: "ThrottlingError", Message: THROTTLED_MESSAGE };
    }
    return terms.isConflict("single", part) ? { Code: "TransactionConflict", Message: CONFLICT_MESSAGE } : undefined;
  });
  const isSent = (_: unknown, index: number): boolean => errors[index] === undefined;
  const Statements = (request.input["Statements"] as readonly unknown[]).filter(isSent);
  if (Statements.length === 0) return { status: 200, body: { Responses: errors.map((Error) => ({ Error })) } };
  const response = await terms.write("single", request, parts.filter(isSent), { ...request.input, Statements });
  if (response.status !== 200) return response;
  const received = [...(response.body["Responses"] as readonly JsonBody[])];
  const Responses = errors.map((Error) => (Error === undefined ? received.shift() : { Error }));
  return { ...response, body: { ...response.body, Responses } };
};

/** A transaction is cancelled with a reason for each of its actions. */
const transactWriteItems: Operation = async (terms, request, parts) => {
  const codes = parts.map((part) => {
    if (terms.isConflict("transaction", part)) return "TransactionConflict";
    return terms.isThrottled(part) ? "ThrottlingError" : "None";
  });
  if (codes.every((code) => code === "None")) return terms.write("transaction", request, parts, request.input);
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(", ")}]`;
  return jsonError(400, "TransactionCanceledException", message, {
    CancellationReasons: codes.map((Code) => ({ Code })),
  });
};

/** Reads of an index read what it shows by now. */
const query: Operation = async (terms, request, parts) => {
  if (parts.some(terms.isThrottled)) return terms.throttled();
  const { IndexName, TableName } = request.input;
  const shadow = parts[0]?.definition?.lagging.get(String(IndexName))?.shadow;
  if (shadow === undefined) return terms.carryOut(request, parts, request.input);
  const response = await terms.carryOut(request, parts, { ...request.input, TableName: shadow });
  const { ConsumedCapacity: consumed, ...body } = response.body;
  return consumed === undefined
    ? response
    : { ...response, body: { ...body, ConsumedCapacity: { ...(consumed as JsonBody), TableName } } };
};

const getItem: Operation = async (terms, request, parts) =>
  parts.some(terms.isThrottled) ? terms.throttled() : terms.carryOut(request, parts, request.input);

const writeItem: Operation = async (terms, request, parts) => {
  if (parts.some(terms.isThrottled)) return terms.throttled();
  if (parts.some((part) => terms.isConflict("single", part))) {
    return jsonError(400, "TransactionConflictException", CONFLICT_MESSAGE);
  }
  return terms.write("single", request, parts, request.input);
};

/** How each operation is served; all others are served as the engine does. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  GetItem: getItem,
  BatchGetItem: batchGet,
  Query: query,
  Scan: query,
  PutItem: writeItem,
  UpdateItem: writeItem,
  DeleteItem: writeItem,
  TransactWriteItems: transactWriteItems,
  BatchExecuteStatement: batchExecuteStatement,
};
