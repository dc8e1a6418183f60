import { DescribeContinuousBackupsCommand, DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { resourcesOfKind } from "../../../lib/resources.ts";
import { SettingsError } from "../../settings/settings.ts";

/** Where to look for a stack. */
export interface StackAddress {
  readonly stackName: string;
  /** The AWS region. */
  readonly region: string;
  /** Profile of the AWS configuration files. @default the environment's credentials */
  readonly profile: string | undefined;
}

/** What was switched off on a table, with the command that switches it on again. */
async function unprotectedPartsOf(client: DynamoDBClient, table: string): Promise<string[]> {
  const [described, backups] = await Promise.all([
    client.send(new DescribeTableCommand({ TableName: table })),
    client.send(new DescribeContinuousBackupsCommand({ TableName: table })),
  ]);
  const recovery = backups.ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
  return [
    ...(described.Table?.DeletionProtectionEnabled === true
      ? []
      : [`no deletion protection: aws dynamodb update-table --table-name ${table} --deletion-protection-enabled`]),
    ...(recovery === "ENABLED"
      ? []
      : [
          `no point-in-time recovery: aws dynamodb update-continuous-backups --table-name ${table} ` +
            "--point-in-time-recovery-specification PointInTimeRecoveryEnabled=true",
        ]),
  ];
}

/**
 * Checks that the protection of each deployed table is still on. CloudFormation doesn't notice when it is switched off: it
 * only changes what differs between two templates.
 * @param outputs of the stack, which name its tables
 * @throws SettingsError with the commands that switch it on again
 */
export async function assertTablesProtected(
  { stackName, region, profile }: StackAddress,
  outputs: ReadonlyMap<string, string>,
): Promise<void> {
  const client = new DynamoDBClient({ region, maxAttempts: 3, ...(profile !== undefined && { profile }) });
  const tables = resourcesOfKind("table").flatMap(([, { id }]) => outputs.get(`${id}Table`) ?? []);
  const check = async (table: string): Promise<string[]> =>
    (await unprotectedPartsOf(client, table)).map((part) => `${stackName}: ${table} has ${part}`);
  const found = await Promise.all(tables.map(check)).catch((error: Error) => {
    throw new SettingsError(
      `${stackName}: its tables can't be checked (${error.name}: ${error.message}); fix that, or add --drop protection`,
    );
  });
  const lines = found.flat();
  if (lines.length > 0) throw new SettingsError([...lines, "Then deploy again, or add --drop protection"].join("\n"));
}
