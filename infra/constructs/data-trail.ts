import { ArnFormat, Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { CfnTrail } from "aws-cdk-lib/aws-cloudtrail";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Key } from "aws-cdk-lib/aws-kms";
import { BlockPublicAccess, Bucket, BucketEncryption } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";

export interface DataTrailProps {
  /** Tables of which every write is recorded, and who made it. */
  readonly tables: readonly Table[];
  /** Days for which the records are kept. */
  readonly days: number;
  readonly key: Key | undefined;
}

/**
 * A trail of every write to some tables, by functions, operators and anyone else in the account, in a bucket of its own. It
 * shows what the service's own log can't: writes that pass it by. Reads aren't recorded: there are many more of them, and each costs as much.
 */
export class DataTrail extends Construct {
  constructor(scope: Construct, id: string, { tables, days, key }: DataTrailProps) {
    super(scope, id);
    const stack = Stack.of(this);
    const trailName = `${stack.stackName}-data`;
    const trailArn = stack.formatArn({
      service: "cloudtrail",
      resource: "trail",
      resourceName: trailName,
      arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
    });
    const cloudTrail = new ServicePrincipal("cloudtrail.amazonaws.com");
    const ofTrail = { "aws:SourceArn": trailArn };
    const bucket = new Bucket(this, "Bucket", {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      ...(key === undefined
        ? { encryption: BucketEncryption.S3_MANAGED }
        : { encryption: BucketEncryption.KMS, encryptionKey: key, bucketKeyEnabled: true }),
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      lifecycleRules: [{ expiration: Duration.days(days) }],
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    Validations.of(bucket).acknowledge({
      id: "AwsSolutions-S1",
      reason: "It holds the log of the account's own trail; its access log would need another bucket without one.",
    });
    bucket.addToResourcePolicy(
      new PolicyStatement({
        principals: [cloudTrail],
        actions: ["s3:GetBucketAcl"],
        resources: [bucket.bucketArn],
        conditions: { StringEquals: ofTrail },
      }),
    );
    bucket.addToResourcePolicy(
      new PolicyStatement({
        principals: [cloudTrail],
        actions: ["s3:PutObject"],
        resources: [bucket.arnForObjects(`AWSLogs/${stack.account}/*`)],
        conditions: { StringEquals: { ...ofTrail, "s3:x-amz-acl": "bucket-owner-full-control" } },
      }),
    );
    key?.addToResourcePolicy(
      new PolicyStatement({
        sid: "EncryptTrail",
        principals: [cloudTrail],
        actions: ["kms:GenerateDataKey*", "kms:DescribeKey"],
        resources: ["*"],
        conditions: { StringEquals: ofTrail },
      }),
    );
    const trail = new CfnTrail(this, "Trail", {
      trailName,
      isLogging: true,
      s3BucketName: bucket.bucketName,
      enableLogFileValidation: true,
      isMultiRegionTrail: false,
      includeGlobalServiceEvents: false,
      ...(key && { kmsKeyId: key.keyArn }),
      advancedEventSelectors: [
        {
          name: "Writes to tables",
          fieldSelectors: [
            { field: "eventCategory", equalTo: ["Data"] },
            { field: "resources.type", equalTo: ["AWS::DynamoDB::Table"] },
            { field: "readOnly", equalTo: ["false"] },
            { field: "resources.ARN", equalTo: tables.map(({ tableArn }) => tableArn) },
          ],
        },
      ],
    });
    // CloudTrail checks on creation that it may write to the bucket.
    trail.node.addDependency(bucket);
  }
}
