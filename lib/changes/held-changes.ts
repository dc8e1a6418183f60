import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { RuntimeWith } from "../aws/runtime.ts";
import { TIME_TO_LIVE } from "../resources.ts";
import { getItem } from "../store/batch-get.ts";
import { logPartition } from "./segment.ts";

/** Longer than it takes until held changes are tried again, so that the note stays for as long as they are held. */
const NOTED_MS = 15 * 60_000;

/** In the partition of the log, so that it is erased with it. Its sort key is below those of all segments. */
function heldKey(organization: string) {
  return { pk: logPartition(organization), sk: "#HELD" };
}
const recordSchema = z.object({ written_at: z.number(), [TIME_TO_LIVE]: z.number() });

/** What reading whose changes are held requires of a runtime. */
export type HeldRuntime = Pick<RuntimeWith<"changes">, "dynamodb" | "environment" | "clock">;

/**
 * Reads whether an organization's changes are held, because its log can't be appended to.
 * @returns when the oldest of them was written, in milliseconds since the epoch; undefined if none is held
 */
export async function readHeldSince(
  { dynamodb, environment, clock }: HeldRuntime,
  organization: string,
): Promise<number | undefined> {
  const { data } = recordSchema.safeParse(await getItem(dynamodb, environment.CHANGES_TABLE, heldKey(organization)));
  return data === undefined || data[TIME_TO_LIVE] * 1000 <= clock() ? undefined : data.written_at;
}

/** Makes the function that notes that an organization's changes are held, and triggers the alarm that says so. */
export function createHeldNotes(runtime: RuntimeWith<"changes">) {
  const { dynamodb, environment, clock, log } = runtime;
  const metrics = new Metrics();
  /** @param writtenAt when the oldest of these changes was written, in milliseconds since the epoch */
  return async (organization: string, writtenAt: number, error: unknown): Promise<void> => {
    log.error("the changes of an organization are held", { organization, error: error as Error });
    metrics.singleMetric().addMetadata("organization", organization).addMetric("ChangesHeld", MetricUnit.Count, 1);
    const before = await readHeldSince(runtime, organization);
    const Item = {
      ...heldKey(organization),
      written_at: Math.min(writtenAt, before ?? writtenAt),
      [TIME_TO_LIVE]: Math.ceil((clock() + NOTED_MS) / 1000),
    };
    await dynamodb.send(new PutCommand({ TableName: environment.CHANGES_TABLE, Item }));
  };
}
