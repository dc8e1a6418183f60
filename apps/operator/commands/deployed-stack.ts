import {
  CloudFormationClient,
  DescribeStacksCommand,
  type Stack,
  UpdateTerminationProtectionCommand,
} from "@aws-sdk/client-cloudformation";
import { DescribeContinuousBackupsCommand, DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { resourcesOfKind, type TableResource } from "@work-items/lib/resources.ts";
import { lossesOf, type KeptSetting, type StackTags } from "../../../infra/settings/setting-tags.ts";
import { SettingsError, STAGES_FILE } from "../../../infra/settings/settings.ts";
import { type RegionSettings, vaultRegionOf } from "../../../infra/settings/stage-settings.ts";

/** A stack whose first deployment failed. It never served anything; CloudFormation can only delete it. */
const FAILED_FIRST = new Set(["ROLLBACK_COMPLETE", "ROLLBACK_FAILED"]);
/** A stack whose first deployment ended before anything was created. It has no tags yet. */
const NEVER_STARTED = "REVIEW_IN_PROGRESS";

/** What `--drop` takes: a setting, the protection of tables, another team's role for the gateway's logs, or a pause. */
export type Drop = KeptSetting | "protection" | "logRole" | "pause";

/** Where to look for a stack. */
export interface StackAddress {
  readonly stackName: string;
  readonly region: string;
  /** Profile of the AWS configuration files. @default the environment's credentials */
  readonly profile: string | undefined;
}

/** Options of the SDK's clients. */
export function clientOptionsOf({ region, profile }: StackAddress) {
  return { region, maxAttempts: 3, ...(profile !== undefined && { profile }) };
}

/**
 * Which protection of a table is off, with the command that switches it on again.
 * @param replica the replica that it must have. A table without a stream gets that by this deployment first.
 */
async function unprotectedPartsOf(
  client: DynamoDBClient,
  table: string,
  replica: { readonly RegionName: string } | undefined,
): Promise<string[]> {
  const [described, backups] = await Promise.all([
    client.send(new DescribeTableCommand({ TableName: table })),
    client.send(new DescribeContinuousBackupsCommand({ TableName: table })),
  ]);
  const { StreamSpecification: stream, Replicas: replicas = [] } = described.Table ?? {};
  const isReplicated = replicas.some(({ RegionName }) => RegionName === replica?.RegionName);
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
    ...(replica === undefined || isReplicated || stream?.StreamEnabled !== true
      ? []
      : [
          `no replica in ${replica.RegionName}: aws dynamodb update-table --table-name ${table} ` +
            `--replica-updates '${JSON.stringify([{ Create: replica }])}'`,
        ]),
  ];
}

/**
 * Checks that the protection of each deployed table is still on. CloudFormation only compares templates and doesn't notice when
 * it is switched off.
 * @param outputs of the stack, which name its tables
 * @throws SettingsError with the commands that switch it on again
 */
async function assertTablesProtected(
  address: StackAddress,
  { backup, customerKey }: RegionSettings,
  outputs: ReadonlyMap<string, string>,
): Promise<void> {
  const { stackName } = address;
  const client = new DynamoDBClient(clientOptionsOf(address));
  const check = async ({ id, replicated }: TableResource): Promise<string[]> => {
    const table = outputs.get(`${id}Table`);
    if (table === undefined) return [];
    const RegionName = replicated && backup && vaultRegionOf(backup);
    const key = customerKey && { KMSMasterKeyId: `<ARN of a key in ${RegionName}>` };
    const replica = RegionName === undefined ? undefined : { RegionName, ...key };
    return (await unprotectedPartsOf(client, table, replica)).map((part) => `${stackName}: ${table} has ${part}`);
  };
  const tables = resourcesOfKind("table").map(([, table]) => check(table));
  const found = await Promise.all(tables).catch((error: Error) => {
    throw new SettingsError(
      `${stackName}: its tables can't be checked (${error.name}: ${error.message}); fix that, or add --drop protection`,
    );
  });
  const lines = found.flat();
  if (lines.length > 0) throw new SettingsError([...lines, "Then deploy again, or add --drop protection"].join("\n"));
}

async function describe(client: CloudFormationClient, stackName: string): Promise<Stack | undefined> {
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: stackName }));
    return stack;
  } catch (error) {
    const { name, message } = error as Error;
    if (name === "ValidationError" && message.endsWith("does not exist")) return undefined;
    throw new SettingsError(
      `${stackName}: can't read what is deployed, so this deployment could remove something: ${name}: ${message}`.replaceAll(
        /\s+/g,
        " ",
      ),
    );
  }
}

function outputsOf(stack: Stack | undefined): ReadonlyMap<string, string> {
  return new Map(stack?.Outputs?.map(({ OutputKey = "", OutputValue = "" }) => [OutputKey, OutputValue]));
}

/** The outputs of a stack, by name; none if it isn't there. @throws SettingsError */
export async function readOutputs(address: StackAddress): Promise<ReadonlyMap<string, string>> {
  return outputsOf(await describe(new CloudFormationClient(clientOptionsOf(address)), address.stackName));
}

/**
 * Checks that a deployment removes nothing that is deployed. If the first deployment failed, lifts the protection of the
 * remaining stack, so that the CDK can delete it and create it again.
 * @param drops settings that may be lost
 * @returns the stack's outputs; none unless it was deployed before
 * @throws SettingsError that names what would be lost
 */
export async function checkDeployedStack(
  address: StackAddress,
  settings: RegionSettings,
  drops: readonly Drop[],
): Promise<ReadonlyMap<string, string>> {
  const { stackName } = address;
  const client = new CloudFormationClient(clientOptionsOf(address));
  const stack = await describe(client, stackName);
  if (stack === undefined || stack.StackStatus === NEVER_STARTED) return new Map();
  if (FAILED_FIRST.has(stack.StackStatus ?? "")) {
    if (stack.EnableTerminationProtection === true) {
      await client.send(
        new UpdateTerminationProtectionCommand({ StackName: stackName, EnableTerminationProtection: false }),
      );
    }
    return new Map();
  }
  const outputs = outputsOf(stack);
  const tags: StackTags = Object.fromEntries((stack.Tags ?? []).map(({ Key = "", Value = "" }) => [Key, Value]));
  if (tags["stage"] === undefined) {
    throw new SettingsError(
      `${stackName}: it has no tags of an earlier deployment, so this one could remove something; ` +
        `compare it with stage ${settings.stage} in ${STAGES_FILE}`,
    );
  }
  if (tags["stage"] !== settings.stage) {
    throw new SettingsError(
      `${stackName}: stage ${tags["stage"]} is deployed there, and this deployment would make it ${settings.stage}; ` +
        `name that stage (--stage ${tags["stage"]})`,
    );
  }
  if (!drops.includes("protection")) await assertTablesProtected(address, settings, outputs);
  const losses = lossesOf(tags, settings).filter(({ setting }) => !drops.includes(setting));
  if (losses.length === 0) return outputs;
  const allow = new Set(losses.map(({ setting }) => `--drop ${setting}`));
  throw new SettingsError(
    `${stackName}: this deployment would ${losses.map(({ description }) => description).join(", ")}; ` +
      `restore stage ${settings.stage} in ${STAGES_FILE}, or add ${[...allow].join(" ")}`,
  );
}
