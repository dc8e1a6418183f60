import { DeleteCommand, TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { retry } from "@work-items/lib/retry.ts";
import { tryWrite, writeConditionally } from "@work-items/lib/store/conditional-write.ts";
import type { Deletions } from "@work-items/lib/work-items/erase-items.ts";
import { NotFoundError, StateConflictError } from "@work-items/lib/errors.ts";
import { decodeOrganization, organizationRecordKey } from "@work-items/lib/organizations/access-store.ts";
import { type Administration, getOrganization } from "./administration.ts";
import type { OrganizationRecord } from "@work-items/lib/organizations/organization.ts";
import { isThrottled } from "@work-items/lib/aws/error-codes.ts";

const SAVING = { attempts: 10, message: "the store throttles deletions; run the command again" };

/** What an erasure keeps in the organization's record, for the command that repeats it. */
export type ErasureProgress = Required<Pick<OrganizationRecord, "erased" | "files_until">>;

/**
 * Notes that an organization is being erased. An earlier note stays, so that commands at the same time work on the same
 * erasure.
 * @param before as the command has read it. An organization that was created again since then is left alone
 * @returns the changed record
 * @throws StateConflictError if it was erased since then
 */
export async function startErasing(runtime: Administration, before: OrganizationRecord, now: string) {
  const { dynamodb, environment } = runtime;
  const start = new UpdateCommand({
    TableName: environment.ACCESS_TABLE,
    Key: organizationRecordKey(before.organization),
    UpdateExpression: "SET erasing_since = if_not_exists(erasing_since, :now)",
    ConditionExpression: "cursor_secret = :secret",
    ExpressionAttributeValues: { ":now": now, ":secret": before.cursor_secret },
    ReturnValues: "ALL_NEW",
  });
  const started = await tryWrite(dynamodb, start);
  if (started === undefined) {
    throw new StateConflictError(`another command has erased ${before.organization} in the meantime`);
  }
  return { ...decodeOrganization(started), erasing_since: String(started["erasing_since"]) };
}

/**
 * The writes of one erasure. Each is carried out only while the organization's record names this erasure. So a command that was
 * frozen can't delete anything of an organization that was created again under the same id.
 * @param since `erasing_since` of the organization's record
 */
export function createErasureWrites(runtime: Administration, organization: string, since: string) {
  const { dynamodb, environment } = runtime;
  const own = {
    TableName: environment.ACCESS_TABLE,
    Key: organizationRecordKey(organization),
    ConditionExpression: "erasing_since = :since",
  };
  const over = (): StateConflictError =>
    new StateConflictError(`another command has finished the erasure of ${organization} that started ${since}`);

  /** @throws StateConflictError if the organization is gone, or was created again */
  const assertOwn = async (): Promise<void> => {
    const record = await getOrganization(runtime, organization).catch((error: unknown) => {
      if (error instanceof NotFoundError) throw over();
      throw error;
    });
    if (record.erasing_since !== since) throw over();
  };

  return {
    assertOwn,
    /**
     * Saves the progress and deletes records, in one transaction.
     * @param deletions at most as many as `transactionsOf` returns together
     * @returns false if a condition of a deletion didn't hold
     * @throws StateConflictError if the erasure is over, StoreBusyError
     */
    save: ({ erased, files_until: until }: ErasureProgress, deletions: Deletions): Promise<boolean> => {
      const progress = {
        ...own,
        UpdateExpression: "SET erased = :erased, files_until = :until",
        ExpressionAttributeValues: { ":since": since, ":erased": erased, ":until": until },
      };
      const isConditional = deletions.some((each) => each.ConditionCheck ?? each.Delete?.ConditionExpression);
      return retry(SAVING, async () => {
        const command = new TransactWriteCommand({ TransactItems: [{ Update: progress }, ...deletions] });
        const outcome = await writeConditionally(dynamodb, command);
        if (outcome.kind === "written") return true;
        if (outcome.current !== undefined) {
          await assertOwn();
          return isConditional ? false : undefined;
        }
        if (outcome.kind !== "busy" && !isThrottled(outcome.error)) throw outcome.error;
        return undefined;
      });
    },
    /** Deletes the organization's record. @throws StateConflictError if the erasure is over */
    finish: async (): Promise<void> => {
      const command = new DeleteCommand({
        ...own,
        ExpressionAttributeValues: { ":since": since },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      });
      const outcome = await writeConditionally(dynamodb, command);
      if (outcome.kind === "written") return;
      if (outcome.current === undefined) throw outcome.error;
      // The first attempt succeeded, and its response was lost.
      const isGone = Object.keys(outcome.current).length === 0;
      if (outcome.kind !== "unknown" || !isGone) throw over();
    },
  };
}
