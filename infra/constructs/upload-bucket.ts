import { Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Key } from "aws-cdk-lib/aws-kms";
import { BlockPublicAccess, Bucket, BucketEncryption, type CfnBucket, HttpMethods } from "aws-cdk-lib/aws-s3";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { BucketResource } from "../../lib/resources.ts";
import { OBJECTS_KEPT } from "../../lib/uploads/job/kept-until.ts";

export interface UploadBucketProps {
  readonly resource: BucketResource;
  /** Receives an event for every uploaded file. */
  readonly queue: Queue;
  /** Key that encrypts the objects. @default S3's own */
  readonly key: Key | undefined;
  /** Origins of the pages that may post files directly to the bucket. */
  readonly origins: string[];
}

/** The bucket for uploaded files, their chunks and the lists of their rows. All objects expire. */
export class UploadBucket extends Construct {
  readonly bucket: Bucket;

  constructor(scope: Construct, { resource, queue, key, origins }: UploadBucketProps) {
    super(scope, resource.id);
    this.bucket = new Bucket(this, "Bucket", {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      ...(key === undefined
        ? { encryption: BucketEncryption.S3_MANAGED }
        : // With a bucket key, S3 asks KMS once for many objects.
          { encryption: BucketEncryption.KMS, encryptionKey: key, bucketKeyEnabled: true }),
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      cors: [
        {
          allowedMethods: [HttpMethods.POST, HttpMethods.GET],
          allowedOrigins: origins,
          allowedHeaders: ["*"],
          maxAge: 3600,
        },
      ],
      lifecycleRules: [
        ...OBJECTS_KEPT.map(({ prefix, days }) => ({
          ...(prefix !== "" && { prefix }),
          expiration: Duration.days(days),
        })),
        { abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
      // Retained like the stack's tables, except after a failed first deployment: the bucket is empty then.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    this.notify(queue, resource);
    Validations.of(this.bucket).acknowledge({
      id: "AwsSolutions-S1",
      reason:
        "Only functions of this stack and forms presigned by them reach the bucket, and both are logged; " +
        "access logs would need a second bucket that names every organization.",
    });
  }

  /** Sets the notification on the CloudFormation resource: the L2 construct adds a custom resource with a function. */
  private notify(queue: Queue, { prefix, notifies }: BucketResource): void {
    queue.addToResourcePolicy(
      new PolicyStatement({
        sid: "ReceiveBucketEvents",
        principals: [new ServicePrincipal("s3.amazonaws.com")],
        actions: ["sqs:SendMessage"],
        resources: [queue.queueArn],
        conditions: { StringEquals: { "aws:SourceAccount": Stack.of(this).account } },
      }),
    );
    const resource = this.bucket.node.defaultChild as CfnBucket;
    resource.notificationConfiguration = {
      queueConfigurations: [
        {
          event: "s3:ObjectCreated:*",
          queue: queue.queueArn,
          filter: {
            s3Key: {
              rules: [
                { name: "prefix", value: prefix },
                { name: "suffix", value: notifies.suffix },
              ],
            },
          },
        },
      ],
    };
    // When the bucket is created, S3 checks that it may send to the queue, so the queue's policy must exist.
    resource.node.addDependency(queue);
  }
}
