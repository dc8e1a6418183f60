import { Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from "aws-cdk-lib/aws-backup";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { EventField, Rule, RuleTargetInput, Schedule } from "aws-cdk-lib/aws-events";
import { SnsTopic } from "aws-cdk-lib/aws-events-targets";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import type { RegionSettings } from "../settings/stage-settings.ts";

/** Hour (UTC) of the daily backup: after most nightly syncs. */
const HOUR = "5";

export interface BackupProps {
  readonly tables: readonly Table[];
  readonly backup: NonNullable<RegionSettings["backup"]>;
  /** Topics that get failed backups and copies. */
  readonly topics: readonly ITopic[];
}

/** A daily backup of the tables in a vault of the region, and a copy in a vault of another region or account. */
export class Backup extends Construct {
  constructor(scope: Construct, id: string, { tables, backup, topics }: BackupProps) {
    super(scope, id);
    const { stackName } = Stack.of(this);
    const kept = Duration.days(backup.days);
    const vault = new BackupVault(this, "Vault", {
      backupVaultName: stackName,
      // A vault left by a failed first deployment would make the next one fail.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    const plan = new BackupPlan(this, "Plan", { backupPlanName: stackName, backupVault: vault });
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
    const message = RuleTargetInput.fromText(
      `Impact: if ${stackName}'s region or a table is lost, what was written since the last good copy is lost too. ` +
        `${EventField.fromPath("$.detail-type")}: ${EventField.fromPath("$.detail.state")}, ` +
        `${EventField.fromPath("$.detail.resourceArn")}, ${EventField.fromPath("$.detail.statusMessage")}. Runbook: docs/runbook.md#backupfailed`,
    );
    const failed = new Rule(this, "Failed", {
      description: "Backups of the tables, and their copies, that fail",
      eventPattern: {
        source: ["aws.backup"],
        detailType: ["Backup Job State Change", "Copy Job State Change"],
        detail: {
          state: ["FAILED", "ABORTED", "EXPIRED"],
          $or: [{ backupVaultName: [vault.backupVaultName] }, { sourceBackupVaultArn: [vault.backupVaultArn] }],
        },
      },
      targets: topics.map((topic) => new SnsTopic(topic, { message })),
    });
    Validations.of(failed).acknowledge({
      id: "Annotation::@aws-cdk/aws-events:ruleUnresolvedEnvironment",
      reason: "The operator's own topic may be in any account: its policy lets EventBridge publish.",
    });
  }
}
