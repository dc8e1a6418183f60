import type { AttributeValue, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { PARTITION_KEY, resources, SORT_KEY } from "../../../lib/resources.ts";

type Item = Readonly<Record<string, AttributeValue>>;
/** The members of a Query or Scan, as it is sent, that its last key depends on. */
interface Reading {
  readonly IndexName?: string;
  readonly KeyConditionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Item;
  readonly Limit?: number;
}
interface ReadPage {
  readonly Items?: readonly Item[];
  readonly ScannedCount?: number;
  readonly LastEvaluatedKey?: Item;
}
interface EngineRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** The engine checks that there is a signature, but not whose. */
const UNCHECKED_SIGNATURE =
  "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0";

/** The names and values that an expression holds: those that no expression holds are refused. */
function usedIn<T>(expression: string, placeholders: Readonly<Record<string, T>> = {}) {
  const used = new Set(expression.match(/[#:]\w+/g));
  const own = Object.entries(placeholders).filter(([name]) => used.has(name));
  return own.length === 0 ? undefined : Object.fromEntries(own);
}

/** The same reading of whole items, without a filter: so the last one is that at which it stopped. */
function unfiltered(input: Reading): Reading {
  const { FilterExpression, ProjectionExpression, Select, ReturnConsumedCapacity, ...rest } = input as Reading &
    Readonly<Record<string, unknown>>;
  const expression = input.KeyConditionExpression ?? "";
  return {
    ...rest,
    ExpressionAttributeNames: usedIn(expression, input.ExpressionAttributeNames),
    ExpressionAttributeValues: usedIn(expression, input.ExpressionAttributeValues),
  } as Reading;
}

/** The attributes that name a place in the table or in one of its indexes. */
function keysOf(index: string | undefined): string[] {
  const indexes: Readonly<Record<string, { readonly partitionKey: string; readonly sortKey: string }>> =
    resources.workItems.indexes;
  const of = index === undefined ? undefined : indexes[index];
  return [PARTITION_KEY, SORT_KEY, ...(of ? [of.partitionKey, of.sortKey] : [])];
}

async function readAgain(request: EngineRequest, input: Reading): Promise<readonly Item[]> {
  const { protocol, hostname, port, headers } = request;
  const response = await fetch(`${protocol}//${hostname}${port === undefined ? "" : `:${port}`}/`, {
    method: "POST",
    headers: {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": headers["x-amz-target"] ?? "",
      "x-amz-date": "20260101T000000Z",
      authorization: UNCHECKED_SIGNATURE,
    },
    body: JSON.stringify(input),
  });
  if (!response.ok) throw new Error(`the engine's last key: ${await response.text()}`);
  return ((await response.json()) as ReadPage).Items ?? [];
}

/**
 * Makes a client of the embedded engine answer as DynamoDB does: a Query or Scan that stops at its `Limit` has a
 * `LastEvaluatedKey`, even if nothing follows
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html). The engine names one only if
 * something does, so that a page after the last one, which is empty, would never be seen.
 */
export function nameLastKeys<C extends Pick<DynamoDBClient, "middlewareStack">>(client: C): C {
  client.middlewareStack.add(
    (next, { commandName = "" }) =>
      async (parameters) => {
        const sent = await next(parameters);
        if (commandName !== "QueryCommand" && commandName !== "ScanCommand") return sent;
        const request = parameters.request as EngineRequest;
        const input = JSON.parse(Buffer.from(request.body as Uint8Array).toString()) as Reading;
        const page = sent.output as unknown as ReadPage;
        if (input.Limit === undefined || page.ScannedCount !== input.Limit || page.LastEvaluatedKey) return sent;
        const last = (await readAgain(request, unfiltered(input))).at(-1);
        if (last === undefined) return sent;
        const key = Object.fromEntries(keysOf(input.IndexName).map((name) => [name, last[name]]));
        return { ...sent, output: { ...sent.output, LastEvaluatedKey: key } as never };
      },
    { step: "build", name: "nameLastKeys" },
  );
  return client;
}
