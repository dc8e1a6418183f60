import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { isoTime } from "@work-items/lib/clock.ts";
import type { RuntimeWith } from "@work-items/lib/aws/runtime.ts";
import { partitionKeyOf } from "@work-items/lib/resources.ts";
import { identifyLedger } from "./erasure-ledger.ts";

/** What is kept of a command: no keys, and nothing that customers sent, such as external ids and addresses. */
export interface OperatorCommand {
  /** ARN of who runs it. */
  readonly by: string;
  readonly command: string;
  readonly organization: string;
  readonly options: Readonly<Record<string, string | number | boolean>>;
}

/**
 * Carries out a command and keeps it in the Audit table, in the partition of its month. A second record says how it ended. It is
 * missing if the command was interrupted or the record couldn't be written; what the command did stays.
 */
export async function keptInLog<T>(
  { dynamodb, environment, clock }: Pick<RuntimeWith<"audit">, "dynamodb" | "environment" | "clock">,
  command: OperatorCommand,
  carryOut: () => Promise<T>,
): Promise<T> {
  const began = isoTime(clock());
  const pk = partitionKeyOf("COMMANDS", began.slice(0, "2026-11".length));
  const sk = `${began}#${randomUUID()}`;
  const put = (record: object): Promise<unknown> =>
    dynamodb.send(
      new PutCommand({
        TableName: environment.AUDIT_TABLE,
        Item: { pk, sk, ...command, at: isoTime(clock()), ...record },
        ConditionExpression: "attribute_not_exists(pk)",
      }),
    );
  const end = (outcome: "done" | "failed"): Promise<unknown> =>
    put({ sk: `${sk}#END`, outcome }).catch(() => undefined);
  // People who may not erase can't write to the ledger: it gets its identity from those who may.
  await identifyLedger({ dynamodb, environment }).catch((error: Error) => {
    if (error.name !== "AccessDeniedException") throw error;
  });
  await put({});
  try {
    const result = await carryOut();
    await end("done");
    return result;
  } catch (error) {
    await end("failed");
    throw error;
  }
}
