import { userInfo } from "node:os";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { keptInLog } from "../data/command-log.ts";
import { workItemId } from "@work-items/lib/identity.ts";
import { clientOptions, type OpenedAdministration } from "./target-tables.ts";
import { nameOf } from "./operator-runtime.ts";

/** ARN of the caller; for the local service, the user of this machine. */
async function callerOf({ variables, awsRegion }: OpenedAdministration): Promise<string> {
  const endpoint = variables["AWS_ENDPOINT_URL_STS"];
  if (variables["AWS_ENDPOINT_URL_DYNAMODB"] !== undefined && endpoint === undefined) {
    return `local:${userInfo().username}`;
  }
  const client = new STSClient({ ...clientOptions(variables, endpoint), region: awsRegion });
  const { Arn: arn = "unknown" } = await client.send(new GetCallerIdentityCommand({}));
  return arn;
}

/** Options whose values are kept. None holds a key or anything that a customer sent. */
const KEPT = [
  "all",
  "burst",
  "create",
  "expires",
  "files",
  "itemsTable",
  "keep",
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

/** The options of a command. Of an item or key the id is kept; of a person only that one was given. */
export type GivenOptions = Readonly<Partial<Record<(typeof KEPT)[number], string | boolean>>> & {
  readonly item?: string;
  readonly person?: string;
  readonly keyId?: string | undefined;
};

/** Carries out a command that reads or changes an organization's data. @throws what it throws */
export type CarryOut = <T>(work: () => Promise<T>) => Promise<T>;

/** Carries out such a command, and keeps who ran it, with which options, and how it ended. */
export async function keepCommand<T>(
  opened: OpenedAdministration,
  command: string,
  organization: string,
  given: GivenOptions,
  work: () => Promise<T>,
): Promise<T> {
  const { item, person, keyId } = given;
  const kept = KEPT.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]);
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
