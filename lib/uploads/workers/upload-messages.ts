import { SendMessageBatchCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import * as z from "zod";
import type { RuntimeWith } from "../../runtime/runtime.ts";
import { jobOfSource } from "../files/upload-objects.ts";
import type { JobKey } from "../job/upload-record.ts";

const jobFields = { organization: z.string(), id: z.string() };

const splitMessageSchema = z.object({ ...jobFields, offset: z.int() });
const partMessageSchema = z.object({ ...jobFields, part: z.int(), segment: z.int(), offset: z.int() });
const s3EventSchema = z.object({
  Records: z.array(z.object({ s3: z.object({ object: z.object({ key: z.string() }) }) })),
});
/** S3 sends it once, to a queue that is newly connected. */
const s3TestEventSchema = z.object({ Event: z.literal("s3:TestEvent") });

/** Asks for a job's file to be split, from where it stood when it was sent. */
export type SplitMessage = z.infer<typeof splitMessageSchema>;
/** Asks for a part to be applied, from where it stood when it was sent. */
export type PartMessage = z.infer<typeof partMessageSchema>;

/** S3 writes keys into its events as forms do: `+` is a space. */
const decodeKey = (key: string): string => decodeURIComponent(key.replaceAll("+", " "));

const splitBodySchema = z.union([
  splitMessageSchema.transform((message) => [message]),
  s3EventSchema.transform(({ Records }) =>
    Records.flatMap(({ s3 }) => {
      const job = jobOfSource(decodeKey(s3.object.key));
      return job ? [{ ...job, offset: 0 }] : [];
    }),
  ),
  s3TestEventSchema.transform(() => []),
]);

/**
 * What a message of the split queue asks for: one of ours, or S3's own event.
 * @throws Error where it is neither
 */
export const parseSplitMessage = (body: string): SplitMessage[] => splitBodySchema.parse(JSON.parse(body));

/** @throws Error where it is none of ours */
export const parsePartMessage = (body: string): PartMessage => partMessageSchema.parse(JSON.parse(body));

/** What a message of either queue asks for. @throws Error where it is none of ours */
export const parseUploadMessage = (
  body: string,
): { readonly part: PartMessage } | { readonly splits: readonly SplitMessage[] } => {
  const part = partMessageSchema.safeParse(JSON.parse(body));
  return part.success ? { part: part.data } : { splits: parseSplitMessage(body) };
};

/** Longest delay that SQS takes. */
const DELAY_MAX_SECONDS = 900;
const STALL_DELAY_SECONDS = 15;

/** Seconds before what has not moved in so many claims is tried again. */
export const delayAfter = (stalls: number): number =>
  stalls === 0 ? 0 : Math.min(DELAY_MAX_SECONDS, STALL_DELAY_SECONDS * 2 ** (stalls - 1));

/** Sends the work of jobs to the queues. The group is the organization, so that none waits behind all of another's. */
export const createSplitSender =
  ({ sqs, environment }: RuntimeWith<"splitQueue">) =>
  async (job: JobKey, offset: number, delaySeconds = 0): Promise<void> => {
    const message: SplitMessage = { organization: job.organization, id: job.id, offset };
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: environment.SPLIT_QUEUE_URL,
        MessageBody: JSON.stringify(message),
        MessageGroupId: job.organization,
        DelaySeconds: delaySeconds,
      }),
    );
  };

/** Where a part stands when its message is sent. */
export interface PartPosition {
  readonly number: number;
  readonly segment: number;
  readonly offset: number;
}

export const startOfPart = (number: number): PartPosition => ({ number, segment: 0, offset: 0 });

export const createPartSender =
  ({ sqs, environment }: RuntimeWith<"partsQueue">) =>
  async (job: JobKey, parts: readonly PartPosition[], delaySeconds = 0): Promise<void> => {
    if (parts.length === 0) return;
    const { Failed = [] } = await sqs.send(
      new SendMessageBatchCommand({
        QueueUrl: environment.PARTS_QUEUE_URL,
        Entries: parts.map(({ number, segment, offset }) => {
          const message: PartMessage = { organization: job.organization, id: job.id, part: number, segment, offset };
          return {
            Id: String(number),
            MessageBody: JSON.stringify(message),
            MessageGroupId: job.organization,
            DelaySeconds: delaySeconds,
          };
        }),
      }),
    );
    if (Failed.length > 0) throw new Error(`SQS refused ${Failed.length} messages: ${Failed[0]?.Code ?? ""}`);
  };

export type SendSplit = ReturnType<typeof createSplitSender>;
export type SendParts = ReturnType<typeof createPartSender>;
