import { Logger } from "@aws-lambda-powertools/logger";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { listOrganizations } from "../../lib/organizations/administration.ts";
import { reindexOrganization } from "../../lib/organizations/reindex.ts";
import { reasonOf } from "./local-stack-error.ts";

/**
 * Fills the agents index of the organizations that were kept from before it, while the service runs: until then their
 * lists are filtered without it.
 * @returns a function that interrupts it; the next start goes on
 */
export const reindexKeptOrganizations = (
  dynamodb: DynamoDBDocumentClient,
  environment: Readonly<Record<"ACCESS_TABLE" | "WORK_ITEMS_TABLE", string>>,
): (() => Promise<void>) => {
  const runtime = { dynamodb, environment, clock: Date.now, log: new Logger() };
  let isStopped = false;
  const run = async (): Promise<void> => {
    for (const { organization, agents_indexed: isIndexed } of await listOrganizations(runtime)) {
      if (isIndexed) continue;
      for await (const _ of reindexOrganization(runtime, organization)) if (isStopped) return;
    }
  };
  const running = run().catch((error) => {
    if (!isStopped) console.error(`the agents index was not filled: ${reasonOf(error)}; the next start tries again`);
  });
  return async () => {
    isStopped = true;
    await running;
  };
};
