import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import * as z from "zod";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { sendMessages } from "../../aws/send-messages.ts";
import { BUSY_DELAY_SECONDS } from "../../retry.ts";
import { jobOfSource } from "../files/upload-objects.ts";
import type { JobKey } from "../job/upload-record.ts";

const jobShape = { organization: z.string(), id: z.string() };
/**
 * Set if a worker couldn't release its claim: since when the store has refused, in milliseconds since the epoch. The next
 * claim then doesn't count as one whose worker died.
 */
const refusedSinceSchema = z.number().optional();
const jobMessageSchema = z.object({ ...jobShape, refused_since: refusedSinceSchema });
const chunkMessageSchema = z.object({
  ...jobShape,
  shard: z.int(),
  chunk: z.int(),
  refused_since: refusedSinceSchema,
});
const s3EventSchema = z.object({
  Records: z.array(z.object({ s3: z.object({ object: z.object({ key: z.string() }) }) })),
});
/** S3 sends this event once, when notifications are configured. */
const s3TestEventSchema = z.object({ Event: z.literal("s3:TestEvent") });

/** Names a job. */
export type JobMessage = z.infer<typeof jobMessageSchema>;
/** Asks a worker to apply a chunk. */
export type ChunkMessage = z.infer<typeof chunkMessageSchema>;

/** Decodes a key in an S3 event, in which `+` is a space. */
function decodeKey(key: string): string {
  return decodeURIComponent(key.replaceAll("+", " "));
}

/** The jobs that a message names. */
export interface NamedJobs {
  readonly jobs: readonly JobMessage[];
  /** Whether S3 sent it. Its messages have no group, so one organization's files could delay all others'. */
  readonly isFromS3: boolean;
}

const splitBodySchema = z.union([
  jobMessageSchema.transform((job): NamedJobs => ({ jobs: [job], isFromS3: false })),
  s3EventSchema.transform(({ Records }): NamedJobs => ({
    jobs: Records.flatMap(({ s3 }) => jobOfSource(decodeKey(s3.object.key)) ?? []),
    isFromS3: true,
  })),
  s3TestEventSchema.transform((): NamedJobs => ({ jobs: [], isFromS3: true })),
]);

/** Parses a message that names a job, or an event of S3. @throws Error if it is neither */
export function parseJobMessage(body: string): NamedJobs {
  return splitBodySchema.parse(JSON.parse(body));
}

/** Parses a message of the chunks queue. @throws Error if it isn't one */
export function parseChunkMessage(body: string): ChunkMessage {
  return chunkMessageSchema.parse(JSON.parse(body));
}

/** Seconds to wait after a refusal: as long as the store has refused so far, within limits. */
export function secondsAfterRefusal(refusedSince: number, now: number): number {
  const { least, most } = BUSY_DELAY_SECONDS;
  return Math.min(most, Math.max(least, Math.ceil((now - refusedSince) / 1000)));
}

/** The time in milliseconds from which work can be claimed again whose message has this delay: before it arrives. */
export function freeAfterRefusal(now: number, delaySeconds: number): number {
  return now + (delaySeconds * 1000) / 2;
}

/**
 * Makes the function that sends a message naming a job. Its group is the organization, so that organizations take turns in the
 * queue.
 */
export function createJobSender(sqs: SQSClient, queueUrl: string) {
  return async ({ organization, id, refused_since }: JobMessage, delaySeconds = 0): Promise<void> => {
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify({ organization, id, refused_since } satisfies JobMessage),
        MessageGroupId: organization,
        DelaySeconds: delaySeconds,
      }),
    );
  };
}

/** Makes the function that sends a message for each chunk, at most one for each shard. */
export function createChunkSender({ sqs, environment }: RuntimeWith<"chunksQueue">) {
  return async (
    { organization, id }: JobKey,
    chunks: readonly Omit<ChunkMessage, keyof JobKey>[],
    delaySeconds = 0,
  ): Promise<void> => {
    const entries = chunks.map((chunk) => ({
      Id: String(chunk.shard),
      MessageBody: JSON.stringify({ organization, id, ...chunk } satisfies ChunkMessage),
      MessageGroupId: organization,
      DelaySeconds: delaySeconds,
    }));
    for (const error of (await sendMessages(sqs, environment.CHUNKS_QUEUE_URL, entries)).values()) throw error;
  };
}

/** Sends a message that names a job. */
export type SendJob = ReturnType<typeof createJobSender>;
/** Asks workers to apply chunks. */
export type SendChunks = ReturnType<typeof createChunkSender>;
