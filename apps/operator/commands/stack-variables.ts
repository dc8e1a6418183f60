import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { nearestTo } from "@work-items/lib/nearest.ts";
import { resourcesOfKind } from "@work-items/lib/resources.ts";
import { parseSettings, stackNameOf } from "../../../infra/settings/settings.ts";
import { stages } from "../../../infra/stages.ts";
import { UsageError } from "@work-items/terminal/command-line.ts";
import type { Terminal } from "@work-items/terminal/terminal.ts";
import { clientOptionsOf, type StackAddress } from "./deployed-stack.ts";
import { assertAccount } from "./stage-account.ts";
import {
  openAdministration,
  type OpenedAdministration,
  regionCode,
  type Target,
  type Variables,
} from "./target-tables.ts";

/** The outputs that name a stack's tables, bucket and queues, by the variables of functions. */
const OUTPUTS: readonly (readonly [variable: string, output: string])[] = [
  ...resourcesOfKind("table").map(([, { variable, id }]) => [variable, `${id}Table`] as const),
  ...resourcesOfKind("bucket").map(([, { variable, id }]) => [variable, `${id}Bucket`] as const),
  ...resourcesOfKind("queue").map(([, { variable, id }]) => [variable, `${id}Url`] as const),
];

/** The variables that name a stack's tables, bucket and queues, from its outputs. */
export function resourceVariables(outputOf: (name: string) => string | undefined): Variables {
  return Object.fromEntries(OUTPUTS.map(([variable, output]) => [variable, outputOf(output)]));
}

async function describe(client: CloudFormationClient, stackName: string) {
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: stackName }));
    return stack;
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(`${stackName} cannot be read: ${message}`.replaceAll(/\s+/g, " "));
  }
}

/**
 * Where the stack of a stage and region is, in the account that the stage names.
 * @throws UsageError if there is no such stage or region @throws SettingsError with credentials of another account
 */
export async function stackOf(stage: string, code: string | undefined): Promise<StackAddress> {
  if (!Object.hasOwn(stages, stage)) {
    throw new UsageError(
      `--stage ${stage}: there is no such stage; did you mean ${nearestTo(stage, Object.keys(stages))}?`,
    );
  }
  const region = regionCode(code);
  const settings = parseSettings({ stage, region }, stages).regions.get(region)!;
  const address = { stackName: stackNameOf(region, stage), region: settings.awsRegion, profile: undefined };
  await assertAccount(address, settings);
  return address;
}

/**
 * The environment variables, and the names of tables, bucket and queues of the stack that `stage` and `region` name.
 * @throws UsageError if there is no such stage, region or stack
 */
async function variablesOf({ stage, region: code }: Target, environment: Variables): Promise<Variables> {
  if (stage === undefined) return environment;
  const address = await stackOf(stage, code);
  const stack = await describe(new CloudFormationClient(clientOptionsOf(address)), address.stackName);
  const outputs = new Map(stack?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
  const tags = new Map(stack?.Tags?.map(({ Key, Value }) => [Key, Value]));
  return {
    ...environment,
    REGION_CODE: code,
    BACKUP_VAULT: tags.get("backup"),
    BACKUP_DAYS: tags.get("backupDays"),
    ...(tags.has("firewall") && { FIREWALL_RATE: tags.get("firewallRate") }),
    LOG_DAYS: tags.get("logDays"),
    ...resourceVariables((output) => outputs.get(output)),
  };
}

/** Opens the tables that the options of a command name. @throws UsageError */
export async function open({ env, clock }: Terminal, target: Target): Promise<OpenedAdministration> {
  return openAdministration(target, await variablesOf(target, env), clock);
}
