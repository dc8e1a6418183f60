import { type Acknowledgment, type CfnElement, Stack } from "aws-cdk-lib";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { VARIABLE_OF } from "../../lib/aws/environment.ts";
import { LISTING_INDEX } from "../../lib/aws/tables.ts";
import type { BucketTouch, QueueTouch, TableTouch, Touches } from "../../lib/aws/touches.ts";
import { UPLOADS_PREFIX } from "./upload-bucket.ts";

/** The stateful parts of one region, by the names that functions know them by. */
export interface Parts extends Record<keyof Touches, Table | Bucket | Queue> {
  readonly workItems: Table;
  readonly access: Table;
  readonly limits: Table;
  readonly uploads: Bucket;
  readonly splitQueue: Queue;
  readonly partsQueue: Queue;
}

/** What a function needs to use one part: the permission, and the variable that names the part. */
export interface Binding {
  readonly statements: readonly PolicyStatement[];
  readonly variable: string;
  readonly value: string;
  /** Why a rule that the statements break does not hold here. @default none is broken */
  readonly acknowledgments?: readonly Acknowledgment[];
}

const bindTable = (
  variable: string,
  table: Table,
  { actions, keys, listing = false }: TableTouch & { readonly keys?: readonly string[]; readonly listing?: boolean },
): Binding => ({
  variable,
  value: table.tableName,
  statements: [
    new PolicyStatement({
      actions: actions.map((action) => `dynamodb:${action}`),
      resources: [table.tableArn, ...(listing ? [`${table.tableArn}/index/${LISTING_INDEX}`] : [])],
      ...(keys && { conditions: { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": keys } } }),
    }),
  ],
});

const logicalIdOf = (bucket: Bucket): string => Stack.of(bucket).getLogicalId(bucket.node.defaultChild as CfnElement);

const bindBucket = (variable: string, bucket: Bucket, { actions }: BucketTouch): Binding => {
  const objects = `${UPLOADS_PREFIX}*`;
  return {
    variable,
    value: bucket.bucketName,
    statements: [
      new PolicyStatement({
        actions: actions.filter((action) => action !== "ListBucket").map((action) => `s3:${action}`),
        resources: [bucket.arnForObjects(objects)],
      }),
      ...(actions.includes("ListBucket")
        ? [new PolicyStatement({ actions: ["s3:ListBucket"], resources: [bucket.bucketArn] })]
        : []),
    ],
    acknowledgments: [
      {
        id: `AwsSolutions-IAM5[Resource::<${logicalIdOf(bucket)}.Arn>/${objects}]`,
        reason:
          "The keys under the prefix name organizations and jobs, which are not known when the stack is deployed.",
      },
    ],
  };
};

const bindQueue = (variable: string, queue: Queue, { actions }: QueueTouch): Binding => ({
  variable,
  value: queue.queueUrl,
  statements: [new PolicyStatement({ actions: actions.map((action) => `sqs:${action}`), resources: [queue.queueArn] })],
});

/** For each part that is touched, in one go: exactly the permission it takes, and the variable that names it. */
export const bind = (parts: Parts, touches: Touches): readonly Binding[] =>
  [
    touches.workItems && bindTable(VARIABLE_OF.workItems, parts.workItems, touches.workItems),
    touches.access && bindTable(VARIABLE_OF.access, parts.access, touches.access),
    touches.limits && bindTable(VARIABLE_OF.limits, parts.limits, touches.limits),
    touches.uploads && bindBucket(VARIABLE_OF.uploads, parts.uploads, touches.uploads),
    touches.splitQueue && bindQueue(VARIABLE_OF.splitQueue, parts.splitQueue, touches.splitQueue),
    touches.partsQueue && bindQueue(VARIABLE_OF.partsQueue, parts.partsQueue, touches.partsQueue),
  ].filter((binding) => binding !== undefined);
