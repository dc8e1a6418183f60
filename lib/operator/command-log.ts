import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { isoTime } from "../clock.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { PARTITION_KEY, partitionKeyOf } from "../resources.ts";

/** What is kept of a command. It holds neither keys nor what customers have sent, as external ids and addresses. */
export interface OperatorCommand {
  /** ARN of who runs it. */
  readonly by: string;
  readonly command: string;
  readonly organization: string;
  readonly options: Readonly<Record<string, string | number | boolean>>;
}

/** Keeps a command in the Audit table, in the partition of its month, before it is carried out. */
export async function recordCommand(
  { dynamodb, environment, clock }: Pick<RuntimeWith<"audit">, "dynamodb" | "environment" | "clock">,
  command: OperatorCommand,
): Promise<void> {
  const at = isoTime(clock());
  const key = { pk: partitionKeyOf("COMMANDS", at.slice(0, "2026-11".length)), sk: `${at}#${randomUUID()}` };
  await dynamodb.send(
    new PutCommand({
      TableName: environment.AUDIT_TABLE,
      Item: { ...key, ...command, at },
      ConditionExpression: `attribute_not_exists(${PARTITION_KEY})`,
    }),
  );
}
