import { randomUUID } from "node:crypto";
import { HeadObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { S3Event } from "aws-lambda";
import * as z from "zod";
import { ACCOUNT, type ResolvedTemplate } from "../template.ts";

const bucketSchema = z.object({
  NotificationConfiguration: z
    .object({
      QueueConfigurations: z
        .array(
          z.object({
            Event: z.string(),
            Queue: z.string(),
            Filter: z
              .object({
                S3Key: z.object({
                  Rules: z.array(
                    z.object({ Name: z.string().transform((name) => name.toLowerCase()), Value: z.string() }),
                  ),
                }),
              })
              .optional(),
          }),
        )
        .default([]),
    })
    .optional(),
});

/** How an object was created, as S3's event names say it. */
export type ObjectCreated = "Put" | "Post" | "Copy" | "CompleteMultipartUpload";

/** Sends the event notifications of a new object. Resolves when the queues have stored the messages. */
export type Notify = (bucket: string, key: string, how: ObjectCreated) => Promise<void>;

interface Subscription {
  readonly bucket: string;
  readonly event: string;
  readonly queueUrl: string;
  readonly prefix: string;
  readonly suffix: string;
}

function subscriptionsOf(template: ResolvedTemplate, sqsEndpoint: string): readonly Subscription[] {
  return [...template.resourcesOf("AWS::S3::Bucket", bucketSchema)].flatMap(
    ([logicalId, { NotificationConfiguration }]) =>
      (NotificationConfiguration?.QueueConfigurations ?? []).map(({ Event, Queue, Filter }) => {
        const rule = (name: string) => Filter?.S3Key.Rules.find(({ Name }) => Name === name)?.Value ?? "";
        return {
          bucket: template.physicalName(logicalId),
          event: Event,
          queueUrl: `${sqsEndpoint}/${ACCOUNT}/${Queue.split(":").at(-1)}`,
          prefix: rule("prefix"),
          suffix: rule("suffix"),
        };
      }),
  );
}

/** Encodes a key as S3's events do: a space is a plus, slashes stay. */
function encodeKey(key: string): string {
  return encodeURIComponent(key).replaceAll("%2F", "/").replaceAll("%20", "+");
}

/**
 * The bucket's event notifications, which the embedded engine accepts but never sends. They are sent before the
 * response to the upload, so that every acknowledged upload has its message even if a process is killed afterwards.
 */
export function s3Notifications(
  template: ResolvedTemplate,
  { s3, sqs, sqsEndpoint }: { readonly s3: S3Client; readonly sqs: SQSClient; readonly sqsEndpoint: string },
): Notify {
  const subscriptions = subscriptionsOf(template, sqsEndpoint);
  return async (bucket, key, how) => {
    const name = `ObjectCreated:${how}`;
    const matching = subscriptions.filter(
      (subscription) =>
        subscription.bucket === bucket &&
        ["s3:ObjectCreated:*", `s3:${name}`].includes(subscription.event) &&
        key.startsWith(subscription.prefix) &&
        key.endsWith(subscription.suffix),
    );
    if (matching.length === 0) return;
    const { ETag = "", ContentLength = 0 } = await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
    const event: S3Event = {
      Records: [
        {
          eventVersion: "2.1",
          eventSource: "aws:s3",
          awsRegion: template.region,
          eventTime: new Date().toISOString(),
          eventName: name,
          userIdentity: { principalId: "local" },
          requestParameters: { sourceIPAddress: "127.0.0.1" },
          responseElements: { "x-amz-request-id": randomUUID(), "x-amz-id-2": randomUUID() },
          s3: {
            s3SchemaVersion: "1.0",
            configurationId: "local",
            bucket: { name: bucket, ownerIdentity: { principalId: "local" }, arn: `arn:aws:s3:::${bucket}` },
            object: {
              key: encodeKey(key),
              size: ContentLength,
              eTag: ETag.replaceAll('"', ""),
              sequencer: Date.now().toString(16).toUpperCase(),
            },
          },
        },
      ],
    };
    const MessageBody = JSON.stringify(event);
    await Promise.all(
      matching.map(({ queueUrl: QueueUrl }) => sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }))),
    );
  };
}
