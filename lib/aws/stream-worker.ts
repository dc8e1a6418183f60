import type { Context, DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import type { RuntimeWith } from "./runtime.ts";

/** Reserved at the end of the function's time to report what is done. */
const MARGIN_MS = 5000;

/** What a worker reads of a stream's record. */
export interface WrittenKey {
  readonly partitionKey: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** The handler of a function that a table's stream triggers. */
export type StreamWorker = (event: DynamoDBStreamEvent, context: Context) => Promise<DynamoDBBatchResponse>;

/**
 * Makes the handler of a function that a table's stream triggers.
 * @param handle returns how many records, from the first on, are done with; Lambda sends the others again
 */
export function streamWorker(
  { clock }: Pick<RuntimeWith<never>, "clock">,
  handle: (records: readonly WrittenKey[], until: number) => Promise<number>,
): StreamWorker {
  return async ({ Records }, context) => {
    const records = Records.map(({ dynamodb }) => ({
      partitionKey: dynamodb?.Keys?.["pk"]?.S ?? "",
      createdAt: (dynamodb?.ApproximateCreationDateTime ?? 0) * 1000,
    }));
    const done = await handle(records, clock() + context.getRemainingTimeInMillis() - MARGIN_MS);
    const next = Records[done]?.dynamodb?.SequenceNumber;
    return { batchItemFailures: next === undefined ? [] : [{ itemIdentifier: next }] };
  };
}
