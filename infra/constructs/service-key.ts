import { Stack } from "aws-cdk-lib";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";

/** What functions do with a key that encrypts what they read and write. */
const USE = ["kms:Decrypt", "kms:GenerateDataKey"];

/**
 * A key of the customer's account that encrypts tables, bucket, queues and logs. It is retained like the tables,
 * which can't be read without it.
 */
export function addServiceKey(scope: Construct, id: string): Key {
  const { stackName, region, account } = Stack.of(scope);
  const key = new Key(scope, id, { description: `Data of ${stackName}`, enableKeyRotation: true });
  const own = { StringEquals: { "aws:SourceAccount": account } };
  const allow = (sid: string, service: string, actions: string[], conditions: object = own): void =>
    void key.addToResourcePolicy(
      new PolicyStatement({ sid, principals: [new ServicePrincipal(service)], actions, resources: ["*"], conditions }),
    );
  // S3 puts its notifications into encrypted queues.
  allow("NotifyOfFiles", "s3.amazonaws.com", USE);
  const logGroups = {
    ArnLike: { "kms:EncryptionContext:aws:logs:arn": `arn:aws:logs:${region}:${account}:log-group:*` },
  };
  allow(
    "EncryptLogs",
    `logs.${region}.amazonaws.com`,
    ["kms:Encrypt*", "kms:Decrypt*", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:Describe*"],
    logGroups,
  );
  return key;
}

/** Lets a function use the key. */
export function useOf(key: Key): PolicyStatement {
  return new PolicyStatement({ actions: USE, resources: [key.keyArn] });
}
