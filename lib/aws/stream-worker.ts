import type { Context, DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";

/** What a worker needs of a stream's record. */
export interface WrittenKey {
  /** Unique among all records of all streams: 32 hexadecimal digits. */
  readonly eventId: string;
  readonly partitionKey: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** The handler of a function that a table's stream triggers. */
export type StreamWorker = (event: DynamoDBStreamEvent, context: Context) => Promise<DynamoDBBatchResponse>;

/**
 * Makes the handler of a function that a table's stream triggers.
 * @param handle returns how many of the first records are done; Lambda delivers the others again
 */
export function streamWorker(handle: (records: readonly WrittenKey[]) => Promise<number>): StreamWorker {
  return async ({ Records }) => {
    const records = Records.map(({ eventID, dynamodb }) => ({
      eventId: eventID ?? "",
      partitionKey: dynamodb?.Keys?.["pk"]?.S ?? "",
      createdAt: (dynamodb?.ApproximateCreationDateTime ?? 0) * 1000,
    }));
    const done = await handle(records);
    const next = Records[done]?.dynamodb?.SequenceNumber;
    return { batchItemFailures: next === undefined ? [] : [{ itemIdentifier: next }] };
  };
}
