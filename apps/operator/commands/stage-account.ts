import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { SettingsError, STAGES_FILE } from "../../../infra/settings/settings.ts";
import type { RegionSettings } from "../../../infra/settings/stage-settings.ts";
import { clientOptionsOf, type StackAddress } from "./deployed-stack.ts";

/**
 * Checks, before anything else, that the credentials are of the account that a stage names. With others, a deployment would
 * create a second stack, and a command would work on another one's data. Everyone may ask who they are
 * (https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html).
 * @throws SettingsError
 */
export async function assertAccount(
  address: StackAddress,
  { stage, account, terminationProtection }: Pick<RegionSettings, "stage" | "account" | "terminationProtection">,
): Promise<void> {
  const { stackName } = address;
  if (account === undefined) {
    if (!terminationProtection) return;
    throw new SettingsError(
      `${stackName}: it is protected, so it must name its account: set account for stage ${stage} in ${STAGES_FILE}; ` +
        "aws sts get-caller-identity shows that of your credentials",
    );
  }
  const client = new STSClient(clientOptionsOf(address));
  const { Account: own = "unknown" } = await client.send(new GetCallerIdentityCommand({})).catch((error: Error) => {
    throw new SettingsError(`${stackName}: the account can't be checked: ${error.name}: ${error.message}`);
  });
  if (own === account) return;
  throw new SettingsError(
    `${stackName}: your credentials are of account ${own}, and stage ${stage} is in ${account} (account in ${STAGES_FILE})`,
  );
}
