import { SendMessageBatchCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import * as z from "zod";
import { backOff, BUSY_DELAY_SECONDS, chunksOf } from "../../retry.ts";
import { StoreBusyError } from "../../errors.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { jobOfSource } from "../files/upload-objects.ts";
import { type JobKey, LEASE_MARGIN_MS, LEASE_MS, type UploadPart } from "../job/upload-record.ts";

const jobFields = { organization: z.string(), id: z.string() };

/**
 * What a worker that could not give up its claim tells the next one: since when a busy store has kept the checkpoint from
 * moving, in milliseconds since the epoch.
 */
const unreleasedSince = z.number().optional();
const splitMessageSchema = z.object({ ...jobFields, offset: z.int(), unreleased_since: unreleasedSince });
const partMessageSchema = z.object({
  ...jobFields,
  part: z.int(),
  segment: z.int(),
  offset: z.int(),
  unreleased_since: unreleasedSince,
});
const s3EventSchema = z.object({
  Records: z.array(z.object({ s3: z.object({ object: z.object({ key: z.string() }) }) })),
});
/** S3 sends this event once, when its notifications are configured. */
const s3TestEventSchema = z.object({ Event: z.literal("s3:TestEvent") });

/** Requests the splitting of a job's file. `offset` is the checkpoint when the message was sent. */
export type SplitMessage = z.infer<typeof splitMessageSchema>;
/** Requests that a part is applied. `segment` and `offset` are the checkpoint when the message was sent. */
export type PartMessage = z.infer<typeof partMessageSchema>;

/** Decodes a key in an S3 event, in which `+` is a space. */
function decodeKey(key: string): string {
  return decodeURIComponent(key.replaceAll("+", " "));
}

/** What a message of the split queue requests. */
export interface SplitRequests {
  readonly splits: readonly SplitMessage[];
  /** Whether S3 sent it: such messages have no group, so that the files of one organization could delay all others'. */
  readonly isFromS3: boolean;
}

const splitBodySchema = z.union([
  splitMessageSchema.transform((message): SplitRequests => ({ splits: [message], isFromS3: false })),
  s3EventSchema.transform(({ Records }): SplitRequests => {
    const jobs = Records.flatMap(({ s3 }) => jobOfSource(decodeKey(s3.object.key)) ?? []);
    return { splits: jobs.map((job) => ({ ...job, offset: 0 })), isFromS3: true };
  }),
  s3TestEventSchema.transform((): SplitRequests => ({ splits: [], isFromS3: true })),
]);

/**
 * Parses a message of the split queue: a `SplitMessage` or an event of S3.
 * @throws Error if it is neither
 */
export function parseSplitMessage(body: string): SplitRequests {
  return splitBodySchema.parse(JSON.parse(body));
}

/** Parses a message of the parts queue. @throws Error if it is not a `PartMessage` */
export function parsePartMessage(body: string): PartMessage {
  return partMessageSchema.parse(JSON.parse(body));
}

/** Parses a message of either queue. @throws Error if it isn't one */
export function parseUploadMessage(body: string): { readonly part: PartMessage } | SplitRequests {
  const part = partMessageSchema.safeParse(JSON.parse(body));
  return part.success ? { part: part.data } : parseSplitMessage(body);
}

/** The longest delay that SQS allows. */
const DELAY_MAX_SECONDS = 900;
const STALL_DELAY_SECONDS = 15;

/** Delay in seconds before the next attempt. @param stalls consecutive claims without progress */
export function delayAfter(stalls: number): number {
  return stalls === 0 ? 0 : Math.min(DELAY_MAX_SECONDS, STALL_DELAY_SECONDS * 2 ** (stalls - 1));
}

/** Then a claim that could not be given up has ended, by the clock of any worker. */
const UNRELEASED_DELAY_SECONDS = (LEASE_MS + LEASE_MARGIN_MS) / 1000;

/**
 * What is sent for a job or part that a busy store keeps from moving, and its delay: as long as it has been so, or until
 * the lease ends if the claim could not be given up.
 * @param now milliseconds since the epoch
 */
export function retryOf<T extends Pick<UploadPart, "busy_since">>(claimed: T, now: number, isReleased: boolean) {
  const { busy_since: since } = claimed;
  if (!isReleased) return { sent: { ...claimed, unreleased_since: since }, delaySeconds: UNRELEASED_DELAY_SECONDS };
  const { least, most } = BUSY_DELAY_SECONDS;
  return { sent: claimed, delaySeconds: Math.min(most, Math.max(least, Math.ceil((now - since) / 1000))) };
}

/** Sends a `SplitMessage`. Its group is the organization, so that organizations take turns in the queue. */
export function createSplitSender({ sqs, environment }: RuntimeWith<"splitQueue">) {
  return async (
    { organization, id, offset, unreleased_since }: JobKey & Pick<SplitMessage, "offset" | "unreleased_since">,
    delaySeconds = 0,
  ): Promise<void> => {
    const message: SplitMessage = {
      organization,
      id,
      offset,
      ...(unreleased_since !== undefined && { unreleased_since }),
    };
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: environment.SPLIT_QUEUE_URL,
        MessageBody: JSON.stringify(message),
        MessageGroupId: organization,
        DelaySeconds: delaySeconds,
      }),
    );
  };
}

/** Number and checkpoint of a part when its message is sent. */
export interface PartPosition {
  readonly number: number;
  readonly segment: number;
  readonly offset: number;
  /** As in the message. */
  readonly unreleased_since?: number;
}

/** The position of a part before its first row. */
export function startOfPart(number: number): PartPosition {
  return { number, segment: 0, offset: 0 };
}

/** The most messages that SQS takes at once. */
const SEND_MAX = 10;
/** SQS may refuse single messages of a request, which the SDK does not send again. */
const SEND_ATTEMPTS = 4;

/** Sends a `PartMessage` for each part, in the group of the organization. */
export function createPartSender({ sqs, environment }: RuntimeWith<"partsQueue">) {
  const send = async (job: JobKey, parts: readonly PartPosition[], delaySeconds: number): Promise<void> => {
    let Entries = parts.map(({ number, segment, offset, unreleased_since }) => {
      const { organization, id } = job;
      const message: PartMessage = {
        organization,
        id,
        part: number,
        segment,
        offset,
        ...(unreleased_since !== undefined && { unreleased_since }),
      };
      return {
        Id: String(number),
        MessageBody: JSON.stringify(message),
        MessageGroupId: job.organization,
        DelaySeconds: delaySeconds,
      };
    });
    for (let attempt = 1; Entries.length > 0; attempt++) {
      const { Failed = [] } = await sqs.send(
        new SendMessageBatchCommand({ QueueUrl: environment.PARTS_QUEUE_URL, Entries }),
      );
      if (Failed.length > 0 && attempt === SEND_ATTEMPTS) {
        throw new StoreBusyError(`SQS refused ${Failed.length} messages: ${Failed[0]?.Code ?? ""}`);
      }
      Entries = Entries.filter(({ Id }) => Failed.some((failed) => failed.Id === Id));
      if (Entries.length > 0) await backOff(attempt);
    }
  };
  return async (job: JobKey, parts: readonly PartPosition[], delaySeconds = 0): Promise<void> => {
    await Promise.all(chunksOf(parts, SEND_MAX).map((batch) => send(job, batch, delaySeconds)));
  };
}

/** Sends the message that requests the splitting of a job's file. */
export type SendSplit = ReturnType<typeof createSplitSender>;
/** Sends the messages that request parts to be applied. */
export type SendParts = ReturnType<typeof createPartSender>;
