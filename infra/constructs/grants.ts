import { type Acknowledgment, type CfnElement, Stack } from "aws-cdk-lib";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import {
  type BucketResource,
  type QueueResource,
  type ResourceNameOf,
  resourcesOfKind,
  type TableResource,
} from "../../lib/resources.ts";
import {
  accessesOf,
  type BucketPermissions,
  type Permissions,
  type QueuePermissions,
  type TablePermissions,
} from "../../lib/aws/permissions.ts";
import type { WorkQueue } from "./queues.ts";

/** The stateful resources of one region, by their names in `lib/resources.ts`. */
export interface StatefulResources {
  readonly tables: Readonly<Record<ResourceNameOf<"table">, Table>>;
  readonly buckets: Readonly<Record<ResourceNameOf<"bucket">, Bucket>>;
  readonly queues: Readonly<Record<ResourceNameOf<"queue">, WorkQueue>>;
  /** ARN of the stream of the table that has one. */
  readonly stream: string;
}

/** What a function needs to use one resource: policy statements, and variables that hold the resource's name. */
export interface Binding {
  readonly statements: readonly PolicyStatement[];
  readonly variables: Readonly<Record<string, string>>;
  /** The cdk-nag rules that the statements break, each with the reason. @default none */
  readonly acknowledgments?: readonly Acknowledgment[];
}

function bindTable(
  { variable }: TableResource,
  { tableName, tableArn }: Table,
  permissions: TablePermissions,
): Binding {
  const { indexes = [] } = permissions;
  return {
    variables: { [variable]: tableName },
    statements: accessesOf(permissions).map(
      ({ actions, partitions }) =>
        new PolicyStatement({
          actions: actions.map((action) => `dynamodb:${action}`),
          resources: [tableArn, ...indexes.map((index) => `${tableArn}/index/${index}`)],
          ...(partitions && {
            conditions: {
              "ForAllValues:StringLike": { "dynamodb:LeadingKeys": partitions.map((kind) => `${kind}#*`) },
            },
          }),
        }),
    ),
  };
}

function logicalIdOf(resource: Bucket | Table): string {
  return Stack.of(resource).getLogicalId(resource.node.defaultChild as CfnElement);
}

/** The origin of a bucket's objects whose paths don't name the bucket. */
export function originOf(bucket: Bucket): string {
  return `https://${bucket.bucketRegionalDomainName}`;
}

function bindBucket({ variable, prefix }: BucketResource, bucket: Bucket, { actions }: BucketPermissions): Binding {
  const objects = `${prefix}*`;
  return {
    variables: { [variable]: bucket.bucketName },
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
}

function bindQueue({ variable }: QueueResource, { queue }: WorkQueue, { actions }: QueuePermissions): Binding {
  return {
    variables: { [variable]: queue.queueUrl },
    statements: [
      new PolicyStatement({ actions: actions.map((action) => `sqs:${action}`), resources: [queue.queueArn] }),
    ],
  };
}

/**
 * What Lambda needs to read a table's stream with the function's role. The policy allows every stream that the table has had:
 * one that is restored under its name has another. `ListStreams` accepts no resource.
 */
export function bindStream(table: Table): Omit<Binding, "variables"> {
  const { tableArn } = table;
  return {
    statements: [
      new PolicyStatement({
        actions: ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"],
        resources: [`${tableArn}/stream/*`],
      }),
      new PolicyStatement({ actions: ["dynamodb:ListStreams"], resources: ["*"] }),
    ],
    acknowledgments: [
      {
        id: `AwsSolutions-IAM5[Resource::<${logicalIdOf(table)}.Arn>/stream/*]`,
        reason: "The name of a stream is the time at which it was created. All of them are of this table.",
      },
    ],
  };
}

/** The bindings of all resources that the permissions name. They grant exactly these permissions. */
export function bind({ tables, buckets, queues }: StatefulResources, permissions: Permissions): readonly Binding[] {
  return [
    ...resourcesOfKind("table").map(
      ([name, resource]) => permissions[name] && bindTable(resource, tables[name], permissions[name]),
    ),
    ...resourcesOfKind("bucket").map(
      ([name, resource]) => permissions[name] && bindBucket(resource, buckets[name], permissions[name]),
    ),
    ...resourcesOfKind("queue").map(
      ([name, resource]) => permissions[name] && bindQueue(resource, queues[name], permissions[name]),
    ),
  ].filter((binding) => binding !== undefined);
}
