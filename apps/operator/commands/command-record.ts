import { userInfo } from "node:os";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { keptInLog } from "../data/command-log.ts";
import { workItemId } from "../../../lib/identity.ts";
import { REGIONS } from "../../../lib/regions.ts";
import { clientOptions, type OpenedAdministration } from "./target-tables.ts";
import { nameOf } from "./operator-runtime.ts";

/** ARN of the caller; on a service of this machine, its user. */
async function callerOf({ variables, region }: OpenedAdministration): Promise<string> {
  const endpoint = variables["AWS_ENDPOINT_URL_STS"];
  if (variables["AWS_ENDPOINT_URL_DYNAMODB"] !== undefined && endpoint === undefined) {
    return `local:${userInfo().username}`;
  }
  const client = new STSClient({ ...clientOptions(variables, endpoint), region: REGIONS[region].awsRegion });
  const { Arn: arn = "unknown" } = await client.send(new GetCallerIdentityCommand({}));
  return arn;
}

/** Options whose values are kept: none holds a key, or what a customer has sent. */
const KEPT = [
  "all",
  "burst",
  "create",
  "expires",
  "itemsTable",
  "ledger",
  "ledgerRegion",
  "listingShards",
  "name",
  "rate",
  "replace",
  "restoredTo",
  "resync",
  "retentionDays",
  "scopes",
  "table",
  "withoutScan",
] as const;

/** What a command was given. Of an item its id is kept, of a person that there was one, of a key its id. */
export type GivenOptions = Readonly<Partial<Record<(typeof KEPT)[number], string | boolean>>> & {
  readonly item?: string;
  readonly person?: string;
  readonly keyId?: string | undefined;
};

/** Carries out a command that reads all data of an organization or changes any. @throws what it throws */
export type CarryOut = <T>(work: () => Promise<T>) => Promise<T>;

/** Carries out such a command, and keeps who runs it, with which options, and how it ends. */
export async function keepCommand<T>(
  opened: OpenedAdministration,
  command: string,
  organization: string,
  given: GivenOptions,
  work: () => Promise<T>,
): Promise<T> {
  const { item, person, keyId } = given;
  const kept = KEPT.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]));
  return keptInLog(
    { ...opened, environment: { AUDIT_TABLE: nameOf(opened, "audit") } },
    {
      by: await callerOf(opened),
      command,
      organization,
      options: {
        ...(Object.fromEntries(kept) as Record<string, string | boolean>),
        ...(item !== undefined && { item: workItemId(organization, item) }),
        ...(person !== undefined && { person: true }),
        ...(keyId !== undefined && { key: keyId }),
      },
    },
    work,
  );
}
