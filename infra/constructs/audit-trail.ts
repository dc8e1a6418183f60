import { Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { CfnTrail } from "aws-cdk-lib/aws-cloudtrail";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Key } from "aws-cdk-lib/aws-kms";
import { BlockPublicAccess, Bucket, BucketEncryption } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";

const KEPT_DAYS = 400;

export interface AuditTrailProps {
  /** The table of what operators did, and of what was erased. */
  readonly table: Table;
  /** Key that encrypts the trail. @default S3's own */
  readonly key: Key | undefined;
}

/**
 * A trail of every write to the Audit table, by whom: who may add a record there may also replace one, which only a trail shows
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/logging-using-cloudtrail.html).
 */
export class AuditTrail extends Construct {
  constructor(scope: Construct, id: string, { table, key }: AuditTrailProps) {
    super(scope, id);
    const bucket = new Bucket(this, "Bucket", {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      ...(key === undefined
        ? { encryption: BucketEncryption.S3_MANAGED }
        : { encryption: BucketEncryption.KMS, encryptionKey: key }),
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      lifecycleRules: [{ expiration: Duration.days(KEPT_DAYS) }],
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    // https://docs.aws.amazon.com/awscloudtrail/latest/userguide/create-s3-bucket-policy-for-cloudtrail.html and
    // create-kms-key-policy-for-cloudtrail.html: with a bucket key, CloudTrail would have to decrypt, too.
    const { stackName: trailName, region, account } = Stack.of(this);
    const arn = `arn:aws:cloudtrail:${region}:${account}:trail/${trailName}`;
    const allow = (actions: string[], resource: string, conditions: object = {}): PolicyStatement =>
      new PolicyStatement({
        principals: [new ServicePrincipal("cloudtrail.amazonaws.com")],
        actions,
        resources: [resource],
        conditions: { StringEquals: { "aws:SourceArn": arn, ...conditions } },
      });
    bucket.addToResourcePolicy(allow(["s3:GetBucketAcl"], bucket.bucketArn));
    const whole = { "s3:x-amz-acl": "bucket-owner-full-control" };
    bucket.addToResourcePolicy(allow(["s3:PutObject"], bucket.arnForObjects(`AWSLogs/${account}/*`), whole));
    key?.addToResourcePolicy(allow(["kms:GenerateDataKey*", "kms:DescribeKey"], "*"));
    const trail = new CfnTrail(this, "Trail", {
      trailName,
      s3BucketName: bucket.bucketName,
      ...(key && { kmsKeyId: key.keyArn }),
      isLogging: true,
      enableLogFileValidation: true,
      advancedEventSelectors: [
        {
          name: "Writes to the Audit table",
          fieldSelectors: [
            { field: "eventCategory", equalTo: ["Data"] },
            { field: "readOnly", equalTo: ["false"] },
            { field: "resources.type", equalTo: ["AWS::DynamoDB::Table"] },
            { field: "resources.ARN", equalTo: [table.tableArn] },
          ],
        },
      ],
    });
    trail.node.addDependency(bucket);
    Validations.of(bucket).acknowledge({
      id: "AwsSolutions-S1",
      reason: "Only CloudTrail writes to it, which is itself a log.",
    });
  }
}
