import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { Environment } from "../aws/environment.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { isoTime } from "../clock.ts";
import { regionCodeSchema } from "../regions.ts";
import { partitionKeyOf } from "../resources.ts";
import { getItem } from "./batch-get.ts";
import { tryWrite } from "./conditional-write.ts";
import { decoderOf } from "./decode-record.ts";
import type { RecordKey } from "./versioned-record.ts";

/** Key of the record that says where a table comes from, and which version its data has (`data-version.ts`). */
export const ORIGIN_KEY: RecordKey = { pk: partitionKeyOf("ORIGIN", "table"), sk: "#ORIGIN" };

const originSchema = z.object({
  region: regionCodeSchema,
  /** Name of the table Audit beside it: its ledger names what was erased from it. */
  ledger: z.string(),
  /** ISO 8601: when this was last written, so when the table was still in use. */
  at: z.string(),
});
/** Where a table of work items comes from. A restored or copied table has that of its original. */
export type TableOrigin = Readonly<z.output<typeof originSchema>>;
const decodeOrigin = decoderOf("origin of a table", originSchema);

/** What reading the table of work items requires of a runtime. */
export type TableRuntime = Pick<RuntimeWith<"workItems">, "dynamodb" | "environment">;
/** The runtime that `writeOrigin` needs. */
export type OriginRuntime = Pick<RuntimeWith<"workItems" | "audit">, "dynamodb" | "clock" | "environment"> & {
  readonly environment: Pick<Environment, "REGION_CODE">;
};

/**
 * Writes the origin into the service's own table of work items, so that every backup contains it. A table that moved with its
 * region to another AWS region keeps the name of its ledger: the ledger's copy there has another name, and says that one too.
 */
export async function writeOrigin({ dynamodb, environment, clock }: OriginRuntime): Promise<void> {
  const { REGION_CODE: region, AUDIT_TABLE: ledger, WORK_ITEMS_TABLE: TableName } = environment;
  const at = isoTime(clock());
  const update = (set: string, values: object, condition?: string) =>
    new UpdateCommand({
      TableName,
      Key: ORIGIN_KEY,
      UpdateExpression: `SET ${set}`,
      ...(condition !== undefined && { ConditionExpression: condition }),
      ExpressionAttributeNames: { "#at": "at", "#region": "region" },
      ExpressionAttributeValues: { ":at": at, ":region": region, ...values },
    });
  // Neither changes the version of the data.
  if (await tryWrite(dynamodb, update("#at = :at", {}, "#region = :region"))) return;
  await dynamodb.send(update("#at = :at, #region = :region, ledger = :ledger", { ":ledger": ledger }));
}

/** Reads a table's origin; undefined if it has none. @throws MalformedRecordError */
export async function readOrigin({ dynamodb, environment }: TableRuntime): Promise<TableOrigin | undefined> {
  const item = await getItem(dynamodb, environment.WORK_ITEMS_TABLE, ORIGIN_KEY);
  return item && decodeOrigin(item);
}
