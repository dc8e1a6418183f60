import {
  CloudFormationClient,
  DescribeStacksCommand,
  type Stack,
  UpdateTerminationProtectionCommand,
} from "@aws-sdk/client-cloudformation";
import { lossesOf, type KeptSetting, type StackTags } from "../../settings/setting-tags.ts";
import { SettingsError, STAGES_FILE } from "../../settings/settings.ts";
import type { RegionSettings } from "../../settings/stage-settings.ts";
import { assertTablesProtected, type StackAddress } from "./table-protection.ts";

/** A stack whose first deployment failed. It never served anything; CloudFormation can only delete it. */
const FAILED_FIRST = new Set(["ROLLBACK_COMPLETE", "ROLLBACK_FAILED"]);
/** A stack whose first deployment ended before anything was made. It has no tags yet. */
const NEVER_BEGUN = "REVIEW_IN_PROGRESS";

/** What `--drop` takes: a setting, the protection of tables, or everything. */
export type Drop = KeptSetting | "protection" | "everything";

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

/**
 * Checks that a deployment takes nothing away from what is deployed. If the first deployment failed, it lifts the
 * protection of the stack that is left, so that the CDK can delete it and make it again.
 * @param drops settings that may be lost
 * @throws SettingsError that names what would be lost
 */
export async function checkDeployedStack(
  { stackName, region, profile }: StackAddress,
  settings: RegionSettings,
  drops: readonly Drop[],
): Promise<void> {
  const client = new CloudFormationClient({ region, maxAttempts: 3, ...(profile !== undefined && { profile }) });
  const stack = await describe(client, stackName);
  if (stack === undefined || stack.StackStatus === NEVER_BEGUN) return;
  if (FAILED_FIRST.has(stack.StackStatus ?? "")) {
    if (stack.EnableTerminationProtection !== true) return;
    await client.send(
      new UpdateTerminationProtectionCommand({ StackName: stackName, EnableTerminationProtection: false }),
    );
    return;
  }
  if (drops.includes("everything")) return;
  const tags: StackTags = Object.fromEntries((stack.Tags ?? []).map(({ Key = "", Value = "" }) => [Key, Value]));
  if (tags["stage"] === undefined) {
    throw new SettingsError(
      `${stackName}: it has no tags of an earlier deployment, so this one could remove something; ` +
        `compare it with stage ${settings.stage} in ${STAGES_FILE} once, then add --drop everything`,
    );
  }
  if (tags["stage"] !== settings.stage) {
    throw new SettingsError(
      `${stackName}: stage ${tags["stage"]} is deployed there, and this deployment would make it ${settings.stage}; ` +
        `name that stage (--stage ${tags["stage"]}), or add --drop everything`,
    );
  }
  const outputs = new Map(stack.Outputs?.map(({ OutputKey = "", OutputValue = "" }) => [OutputKey, OutputValue]));
  if (!drops.includes("protection")) await assertTablesProtected({ stackName, region, profile }, outputs);
  const losses = lossesOf(tags, settings).filter(({ setting }) => !drops.includes(setting));
  if (losses.length === 0) return;
  const allow = new Set(losses.map(({ setting }) => `--drop ${setting}`));
  throw new SettingsError(
    `${stackName}: this deployment would ${losses.map(({ description }) => description).join(", ")}; ` +
      `restore stage ${settings.stage} in ${STAGES_FILE}, or add ${[...allow].join(" ")}`,
  );
}
