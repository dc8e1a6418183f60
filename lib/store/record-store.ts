import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import { BatchExecuteStatementCommand } from "@aws-sdk/client-dynamodb";
import { PutCommand, TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { chunksOf } from "../retry.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { toAttributeValue, type Attributes } from "../aws/attribute-values.ts";
import { batchGet, getItem, keyText } from "./batch-get.ts";
import { toUpdate } from "./conditional-update.ts";
import { writeConditionally } from "./conditional-write.ts";
import { outcomeOfError, outcomeOfStatement, type WriteOutcome } from "./write-outcome.ts";
import { type RecordKey, type StoredRecord, storedRecordFrom } from "./versioned-record.ts";

/** DynamoDB's limit for one BatchExecuteStatement. */
const STATEMENTS_PER_WRITE = 25;
const CONCURRENT_NATIVE_WRITES = 16;

/** A write on condition that the record still has the version of `before`, or still doesn't exist. */
export interface ConditionalWrite {
  readonly key: RecordKey;
  readonly before: StoredRecord | undefined;
  /** Attributes with new values. */
  readonly set: Attributes;
  /** Attributes to remove. */
  readonly remove: readonly string[];
  /** A write of another record in the same transaction. @default none */
  readonly also?: ConditionalWrite;
}

/**
 * Reads records, strongly consistent, into a map by `keyText`. Missing records aren't in the map. Only their keys are
 * checked: `optimisticWrite` checks each record before it plans, so a damaged one doesn't affect the others.
 */
export type ReadRecords = (keys: readonly RecordKey[]) => Promise<ReadonlyMap<string, StoredRecord>>;

type Guard = () => Promise<void>;

function insertOf(table: string, set: Attributes): string {
  return `INSERT INTO "${table}" VALUE {'pk': ?, 'sk': ?, '${Object.keys(set).join("': ?, '")}': ?}`;
}
function updateOf(table: string, set: Attributes): string {
  return `UPDATE "${table}" SET "${Object.keys(set).join('" = ?, "')}" = ? WHERE "pk" = ? AND "sk" = ? AND "version" = ?`;
}

function statementOf(table: string, { key, before, set }: ConditionalWrite) {
  const ofKey = [{ S: key.pk }, { S: key.sk }];
  const values = Object.values(set).map(toAttributeValue);
  return before === undefined
    ? { Statement: insertOf(table, set), Parameters: [...ofKey, ...values] }
    : { Statement: updateOf(table, set), Parameters: [...values, ...ofKey, toAttributeValue(before.version)] };
}

function putOf(table: string, { key, set }: ConditionalWrite) {
  return { TableName: table, Item: { ...key, ...set }, ConditionExpression: "attribute_not_exists(pk)" };
}

function nativeUpdateOf(table: string, before: StoredRecord, { key, set, remove }: ConditionalWrite) {
  return toUpdate(table, { key, set, remove, condition: "#version = :before", given: { before: before.version } });
}

function commandOf(table: string, write: ConditionalWrite) {
  const { before, also } = write;
  if (also) {
    const TransactItems = [write, also].map((part) =>
      part.before === undefined ? { Put: putOf(table, part) } : { Update: nativeUpdateOf(table, part.before, part) },
    );
    return new TransactWriteCommand({ TransactItems });
  }
  return before === undefined
    ? new PutCommand(putOf(table, write))
    : new UpdateCommand(nativeUpdateOf(table, before, write));
}

/** Reads and writes versioned records of the WorkItems table. Outages are logged and counted in a metric. */
export function createRecordStore({ dynamodb, environment, log }: RuntimeWith<"workItems">) {
  const table = environment.WORK_ITEMS_TABLE;
  const metrics = new Metrics();

  const reportOutages = (outcomes: readonly WriteOutcome[]): void => {
    const outages = outcomes.filter(({ kind }) => kind === "outage");
    if (outages.length === 0) return;
    metrics.singleMetric().addMetric("StoreRefusals", MetricUnit.Count, outages.length);
    log.error("the store refuses writes", { codes: [...new Set(outages.map(({ code }) => code))] });
  };

  /**
   * Sends one request for each write. Used for the few whose condition failed before.
   * @param guard called between many writes; throws to prevent further ones
   */
  const writeNatively = async (writes: readonly ConditionalWrite[], guard: Guard): Promise<WriteOutcome[]> => {
    const outcomes: WriteOutcome[] = [];
    for (const some of chunksOf(writes, CONCURRENT_NATIVE_WRITES)) {
      if (outcomes.length > 0) await guard();
      outcomes.push(...(await Promise.all(some.map((write) => writeConditionally(dynamodb, commandOf(table, write))))));
    }
    reportOutages(outcomes);
    return outcomes;
  };

  const writeStatements = async (writes: readonly ConditionalWrite[]): Promise<WriteOutcome[]> => {
    try {
      const { Responses = [], $metadata } = await dynamodb.send(
        new BatchExecuteStatementCommand({ Statements: writes.map((write) => statementOf(table, write)) }),
      );
      return writes.map((_, index) => {
        const response = Responses[index];
        if (response === undefined) return { kind: "unknown", code: "MissingResponse" };
        return response.Error ? outcomeOfStatement(response.Error, $metadata.attempts ?? 1) : { kind: "written" };
      });
    } catch (error) {
      const outcome = outcomeOfError(error);
      // If the whole batch is rejected, one record may be the cause: the next round sends each separately.
      return writes.map(() => (outcome.kind === "refused" ? { kind: "busy" } : outcome));
    }
  };

  /** A key may be given twice. @throws StoreBusyError */
  const read: ReadRecords = async (keys) => {
    const items = (await batchGet(dynamodb, table, keys)) as StoredRecord[];
    return new Map(items.map((record) => [keyText(record), record]));
  };

  return {
    read,
    /** @throws MalformedRecordError */
    readOne: async (key: RecordKey): Promise<StoredRecord | undefined> => {
      const item = await getItem(dynamodb, table, key);
      return item && storedRecordFrom(item);
    },
    /** Sends up to 25 writes in one request. Each has its own condition and outcome; no key may be given twice. */
    write: async (writes: readonly ConditionalWrite[], guard: Guard): Promise<WriteOutcome[]> => {
      if (writes.length === 1 || writes.some(({ remove, also }) => also || remove.length > 0)) {
        return writeNatively(writes, guard);
      }
      const outcomes = (await Promise.all(chunksOf(writes, STATEMENTS_PER_WRITE).map(writeStatements))).flat();
      reportOutages(outcomes);
      return outcomes;
    },
    writeNatively,
  };
}
/** A store of versioned records. */
export type RecordStore = ReturnType<typeof createRecordStore>;
