import { APIGatewayClient, GetAccountCommand } from "@aws-sdk/client-api-gateway";
import { GetAccountSettingsCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { paginateListSubscriptionsByTopic, SNSClient } from "@aws-sdk/client-sns";
import { allWorkers } from "../../../functions/workers.ts";
import { SettingsError, STAGES_FILE } from "../../../infra/settings/settings.ts";
import type { RegionSettings } from "../../../infra/settings/stage-settings.ts";
import type { Terminal } from "@work-items/terminal/terminal.ts";
import { regionCodes, stackIdOf } from "@work-items/lib/regions.ts";
import { clientOptionsOf, type Drop, type StackAddress } from "./deployed-stack.ts";

/** Executions that queues leave to calls, sweeps and the stream, so that an import never takes the last one. */
const SHARE_OF_CALLS = 100;

/** Concurrent executions that queues can take together with these settings. */
function takenByQueues({ concurrency }: RegionSettings): number {
  return allWorkers.reduce(
    (sum, { trigger }) => (trigger.kind === "queue" ? sum + (concurrency.workers ?? trigger.maximumConcurrency) : sum),
    0,
  );
}

/** Whether a role by which API Gateway writes logs was created by one of our stacks, of any stage. */
function isOurs(role: string): boolean {
  const name = role.slice(role.lastIndexOf("/") + 1);
  return regionCodes.some((code) => name.startsWith(`${stackIdOf(code)}-`));
}

/** @throws SettingsError if queues could take so many of the account's concurrent executions that calls find none */
async function checkConcurrency(address: StackAddress, settings: RegionSettings): Promise<void> {
  if (settings.smallAccount) return;
  const { stackName, region } = address;
  const client = new LambdaClient(clientOptionsOf(address));
  const { AccountLimit: { ConcurrentExecutions: limit = Infinity } = {} } = await client.send(
    new GetAccountSettingsCommand({}),
  );
  const taken = takenByQueues(settings);
  if (limit >= taken + SHARE_OF_CALLS) return;
  throw new SettingsError(
    `${stackName}: the account has ${limit} concurrent executions in ${region}, and the queues can take ${taken}: calls would ` +
      `get a 503 while files are imported; set smallAccount: true for stage ${settings.stage} in ${STAGES_FILE}, or request more: ` +
      "aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000 " +
      `--region ${region}`,
  );
}

/** @throws SettingsError if API Gateway's logs would fail, or another team's role for them would be replaced */
async function checkLogRole(address: StackAddress, settings: RegionSettings): Promise<void> {
  const { stackName, region } = address;
  const client = new APIGatewayClient(clientOptionsOf(address));
  const { cloudwatchRoleArn: role } = await client.send(new GetAccountCommand({}));
  const setting = 'gatewayLogRole: "existing"';
  if (settings.gatewayLogRole === "existing" && role === undefined) {
    throw new SettingsError(
      `${stackName}: API Gateway has no role for logs in ${region}, so the API couldn't be deployed; ` +
        `remove ${setting} from stage ${settings.stage} in ${STAGES_FILE}`,
    );
  }
  if (settings.gatewayLogRole !== "existing" && role !== undefined && !isOurs(role)) {
    throw new SettingsError(
      `${stackName}: this deployment would replace ${role}, by which all APIs of the account write logs in ${region}; ` +
        `set ${setting} for stage ${settings.stage} in ${STAGES_FILE}, or add --drop logRole`,
    );
  }
}

/** Names the addresses that don't get alarms because their owners haven't confirmed the subscription. */
async function noteUnconfirmed(terminal: Terminal, stack: StackAddress, topics: readonly string[]): Promise<void> {
  const { stackName } = stack;
  const client = new SNSClient(clientOptionsOf(stack));
  for (const TopicArn of topics) {
    for await (const { Subscriptions: subscriptions = [] } of paginateListSubscriptionsByTopic(
      { client },
      { TopicArn },
    )) {
      for (const { SubscriptionArn: arn, Endpoint: address = "" } of subscriptions) {
        if (arn !== "PendingConfirmation") continue;
        terminal.note(
          `${stackName}: ${address} gets no alarms yet: confirm the subscription in the message from AWS. After three days its ` +
            `link is invalid; then run: aws sns subscribe --topic-arn ${TopicArn} --protocol email --notification-endpoint ${address}`,
        );
      }
    }
  }
}

/**
 * Asks the account for what the template can't know: how many executions may run at once, by which role API Gateway writes
 * logs, and who has confirmed to get alarms. A question that the caller may not ask is noted.
 * @param topics ARNs of the deployed stack's topics
 * @throws SettingsError if the deployment would fail, replace something of others, or leave no executions for calls
 */
export async function checkAccount(
  terminal: Terminal,
  address: StackAddress,
  settings: RegionSettings,
  { drops, topics }: { readonly drops: readonly Drop[]; readonly topics: readonly string[] },
): Promise<void> {
  const ask = async (what: string, question: () => Promise<void>): Promise<void> => {
    try {
      await question();
    } catch (error) {
      if (error instanceof SettingsError) throw error;
      const { name, message } = error as Error;
      terminal.note(`${address.stackName}: ${what} can't be checked: ${name}: ${message}`.replaceAll(/\s+/g, " "));
    }
  };
  await ask("the account's concurrent executions", () => checkConcurrency(address, settings));
  if (!drops.includes("logRole"))
    await ask("the account's role for API Gateway's logs", () => checkLogRole(address, settings));
  await ask("subscriptions to the alarms", () => noteUnconfirmed(terminal, address, topics));
}
