import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { backOff } from "../backoff.ts";
import { StoreBusyError } from "../errors.ts";
import type { Attributes, RecordKey, StoredRecord } from "./versioned-record.ts";

/** DynamoDB's own limits: keys in one BatchGetItem, statements in one BatchExecuteStatement. */
const KEYS_PER_READ = 100;
const STATEMENTS_PER_WRITE = 25;
const CONCURRENT_READS = 4;
const READ_ATTEMPTS_MAX = 8;
const CONCURRENT_NATIVE_WRITES = 16;

/** A write that happens only if the record is still at the version of `before` (or still absent). */
export interface ConditionalWrite {
  readonly key: RecordKey;
  readonly before: StoredRecord | undefined;
  /** Attributes that get a new value. */
  readonly set: Attributes;
  /** Attributes that go. */
  readonly remove?: readonly string[];
}

/**
 * `written`; `lost`: the condition failed, as it also does when our own answer was lost;
 * `busy`: throttled, timed out or conflicting, perhaps written all the same; an Error: refused for good.
 */
export type WriteOutcome = "written" | "lost" | "busy" | Error;

export interface RecordStore {
  /** Strongly consistent; absent records are missing from the map, whose keys are `keyText`. */
  read(keys: readonly RecordKey[]): Promise<Map<string, StoredRecord>>;
  /** Each write by itself; none depends on another. No key twice. */
  write(writes: readonly ConditionalWrite[]): Promise<WriteOutcome[]>;
  /** One request a write, for the few that lost a race. */
  writeNatively(writes: readonly ConditionalWrite[]): Promise<WriteOutcome[]>;
}

export const keyText = ({ pk, sk }: RecordKey): string => `${pk}\n${sk}`;

export const chunksOf = <T>(values: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, index) => values.slice(index * size, (index + 1) * size));

/** Maps with at most `concurrency` calls under way; results in the order of the values. */
export const mapConcurrently = async <T, R>(
  values: readonly T[],
  concurrency: number,
  map: (value: T) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < values.length) {
      const index = next++;
      results[index] = await map(values[index] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, values.length) }, work));
  return results;
};

const LOST: readonly string[] = ["ConditionalCheckFailed", "DuplicateItem", "ConditionalCheckFailedException"];
const REFUSED: readonly string[] = [
  "ValidationError",
  "ValidationException",
  "AccessDenied",
  "AccessDeniedException",
  "ResourceNotFound",
  "ResourceNotFoundException",
  "ItemCollectionSizeLimitExceeded",
];

/** Whatever is neither a failed condition nor a refusal is worth another try: throttling, conflicts, time-outs. */
const outcomeOf = (code: string | undefined, message: string | undefined): WriteOutcome => {
  if (code === undefined) return "written";
  if (LOST.includes(code)) return "lost";
  return REFUSED.includes(code) ? new Error(`${code}: ${message ?? ""}`) : "busy";
};

const outcomeOfError = (error: unknown): WriteOutcome =>
  error instanceof Error ? outcomeOf(error.name, error.message) : "busy";

const quoted = (name: string): string => `"${name}"`;

const statementOf = (table: string, { key, before, set }: ConditionalWrite) => {
  if (before === undefined) {
    const entries = Object.entries({ ...key, ...set });
    return {
      Statement: `INSERT INTO ${quoted(table)} VALUE {${entries.map(([name]) => `'${name}': ?`).join(", ")}}`,
      Parameters: entries.map(([, value]) => value),
    };
  }
  const entries = Object.entries(set);
  return {
    Statement: `UPDATE ${quoted(table)} SET ${entries.map(([name]) => `${quoted(name)} = ?`).join(", ")} WHERE "pk" = ? AND "sk" = ? AND "version" = ?`,
    Parameters: [...entries.map(([, value]) => value), key.pk, key.sk, before.version],
  };
};

const nativeCommandOf = (table: string, { key, before, set, remove = [] }: ConditionalWrite) => {
  if (before === undefined) {
    return new PutCommand({
      TableName: table,
      Item: { ...key, ...set },
      ConditionExpression: "attribute_not_exists(pk)",
    });
  }
  const sets = Object.entries(set);
  const names = Object.fromEntries(
    [...sets.map(([name]) => name), ...remove].map((name, index) => [`#${index}`, name]),
  );
  const removed = remove.map((_, index) => `#${sets.length + index}`);
  return new UpdateCommand({
    TableName: table,
    Key: key,
    UpdateExpression: [
      `SET ${sets.map((_, index) => `#${index} = :${index}`).join(", ")}`,
      ...(removed.length > 0 ? [`REMOVE ${removed.join(", ")}`] : []),
    ].join(" "),
    ConditionExpression: "#version = :version",
    ExpressionAttributeNames: { ...names, "#version": "version" },
    ExpressionAttributeValues: {
      ...Object.fromEntries(sets.map(([, value], index) => [`:${index}`, value])),
      ":version": before.version,
    },
  });
};

/**
 * Versioned records of one table. `path` chooses how many are written at once: `partiql` as BatchExecuteStatement of 25
 * (a hundredth of the client CPU is spent on requests), `native` as one conditional write each.
 */
export const createRecordStore = (options: {
  readonly dynamodb: DynamoDBDocumentClient;
  readonly table: string;
  readonly path: "partiql" | "native";
}): RecordStore => {
  const { dynamodb, table } = options;

  const readChunk = async (keys: readonly RecordKey[]): Promise<StoredRecord[]> => {
    const records: StoredRecord[] = [];
    let pending: readonly RecordKey[] = keys;
    for (let attempt = 0; pending.length > 0; attempt++) {
      const { Responses, UnprocessedKeys } = await dynamodb.send(
        new BatchGetCommand({ RequestItems: { [table]: { Keys: [...pending], ConsistentRead: true } } }),
      );
      const found = (Responses?.[table] ?? []) as StoredRecord[];
      records.push(...found);
      pending = (UnprocessedKeys?.[table]?.Keys ?? []) as RecordKey[];
      // Above 16 MB an answer holds as much as fits: only one without progress is a reason to wait.
      if (pending.length > 0 && found.length === 0) {
        if (attempt >= READ_ATTEMPTS_MAX) throw new StoreBusyError("the store throttles reads; try again");
        await backOff(attempt);
      }
    }
    return records;
  };

  const writeNatively = (writes: readonly ConditionalWrite[]): Promise<WriteOutcome[]> =>
    mapConcurrently(writes, CONCURRENT_NATIVE_WRITES, async (write) => {
      try {
        await dynamodb.send(nativeCommandOf(table, write) as PutCommand);
        return "written";
      } catch (error) {
        return outcomeOfError(error);
      }
    });

  const writeStatements = async (writes: readonly ConditionalWrite[]): Promise<WriteOutcome[]> => {
    try {
      const { Responses = [] } = await dynamodb.send(
        new BatchExecuteStatementCommand({ Statements: writes.map((write) => statementOf(table, write)) }),
      );
      return writes.map((_, index) => {
        const failed = Responses[index]?.Error;
        return outcomeOf(failed && (failed.Code ?? "InternalServerError"), failed?.Message);
      });
    } catch (error) {
      return writes.map(() => outcomeOfError(error));
    }
  };

  return {
    read: async (keys) => {
      const chunks = await mapConcurrently(chunksOf(keys, KEYS_PER_READ), CONCURRENT_READS, readChunk);
      return new Map(chunks.flat().map((record) => [keyText(record), record]));
    },
    write: async (writes) => {
      if (options.path === "native" || writes.length === 1 || writes.some((write) => write.remove?.length)) {
        return writeNatively(writes);
      }
      const chunks = chunksOf(writes, STATEMENTS_PER_WRITE);
      return (await Promise.all(chunks.map(writeStatements))).flat();
    },
    writeNatively,
  };
};
