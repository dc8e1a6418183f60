import type { DynamoDBRecord } from "aws-lambda";

/** A shard of a table's stream. */
export interface Shard {
  readonly ShardId: string;
  readonly ParentShardId?: string;
}

/** A page of a shard. */
export interface ShardPage {
  readonly Records: readonly DynamoDBRecord[];
  /** Absent if the shard is closed and read to its end. */
  readonly NextShardIterator?: string;
}

/** The engine refused a request of the stream. */
class StreamError extends Error {}

/** Engines check that there is a signature, but not whose. */
const UNCHECKED_SIGNATURE = {
  "x-amz-date": "20260101T000000Z",
  authorization:
    "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0",
};

/** Calls the API of DynamoDB Streams, which an engine serves at the address of its tables. */
export function createStreamApi(endpoint: string) {
  async function call<T>(operation: string, input: object): Promise<T> {
    const response = await fetch(endpoint, {
      method: "POST",
      headers: {
        ...UNCHECKED_SIGNATURE,
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": `DynamoDBStreams_20120810.${operation}`,
      },
      body: JSON.stringify(input),
    });
    if (!response.ok) throw new StreamError(`${operation}: ${await response.text()}`);
    return (await response.json()) as T;
  }
  return {
    /** All shards of a stream that the engine still knows, parents first. */
    shards: async (streamArn: string): Promise<readonly Shard[]> => {
      type Described = { StreamDescription: { Shards: readonly Shard[]; LastEvaluatedShardId?: string } };
      const shards: Shard[] = [];
      for (let after: string | undefined; ;) {
        const ExclusiveStartShardId = after;
        const { StreamDescription: page }: Described = await call("DescribeStream", {
          StreamArn: streamArn,
          ExclusiveStartShardId,
        });
        shards.push(...page.Shards);
        after = page.LastEvaluatedShardId;
        if (after === undefined) return shards;
      }
    },
    /** @param after sequence number of the last record that was handled; undefined to begin with the oldest one */
    iterator: async (streamArn: string, shardId: string, after: string | undefined): Promise<string> => {
      const place =
        after === undefined
          ? { ShardIteratorType: "TRIM_HORIZON" }
          : { ShardIteratorType: "AFTER_SEQUENCE_NUMBER", SequenceNumber: after };
      const input = { StreamArn: streamArn, ShardId: shardId, ...place };
      return (await call<{ ShardIterator: string }>("GetShardIterator", input)).ShardIterator;
    },
    records: (ShardIterator: string, Limit: number): Promise<ShardPage> => call("GetRecords", { ShardIterator, Limit }),
  };
}
/** The API of DynamoDB Streams. */
export type StreamApi = ReturnType<typeof createStreamApi>;
