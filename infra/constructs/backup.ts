import { Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from "aws-cdk-lib/aws-backup";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { Schedule } from "aws-cdk-lib/aws-events";
import { Construct } from "constructs";
import type { RegionSettings } from "../settings/stage-settings.ts";

/** Hour (UTC) of the daily backup: after most nightly syncs. */
const HOUR = "5";

export interface BackupProps {
  readonly tables: readonly Table[];
  readonly backup: NonNullable<RegionSettings["backup"]>;
}

/** A daily backup of the tables in a vault of the region, and a copy in a vault of another region or account. */
export class Backup extends Construct {
  constructor(scope: Construct, id: string, { tables, backup }: BackupProps) {
    super(scope, id);
    const { stackName } = Stack.of(this);
    const kept = Duration.days(backup.days);
    const plan = new BackupPlan(this, "Plan", {
      backupPlanName: stackName,
      // After a failed first deployment, a vault that stays would keep the next one from making it.
      backupVault: new BackupVault(this, "Vault", {
        backupVaultName: stackName,
        removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      }),
    });
    plan.addRule(
      new BackupPlanRule({
        ruleName: "daily",
        scheduleExpression: Schedule.cron({ hour: HOUR, minute: "0" }),
        deleteAfter: kept,
        copyActions: [
          { destinationBackupVault: BackupVault.fromBackupVaultArn(this, "Copies", backup.vault), deleteAfter: kept },
        ],
      }),
    );
    const selection = plan.addSelection("Tables", {
      resources: tables.map((table) => BackupResource.fromDynamoDbTable(table)),
    });
    Validations.of(selection).acknowledge({
      id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]",
      reason: "AWS documents this policy for the role by which AWS Backup reads tables.",
    });
  }
}
