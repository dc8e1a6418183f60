import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { RuntimeWith } from "../aws/runtime.ts";
import { MalformedRecordError } from "../store/decode-record.ts";
import { createDueGaps } from "./due-gaps.ts";

const HOUR_MS = 60 * 60 * 1000;

/** How long changes wait after their first failure. Another error than a damaged record can be a bad deployment. */
function waitMs(error: unknown): number {
  return error instanceof MalformedRecordError ? HOUR_MS : 24 * HOUR_MS;
}

/** Decides what happens to changes that can't be appended for another reason than a busy store. */
export function createFailures(runtime: RuntimeWith<"changes">) {
  const { clock, log } = runtime;
  const dueGaps = createDueGaps(runtime);
  const metrics = new Metrics();

  /** Lets the sweep put a gap for changes that are given up. Their messages may leave the queue after it. */
  async function giveUp(organization: string, error: unknown): Promise<void> {
    log.error("changes are given up for a gap", { organization, error: error as Error });
    await dueGaps.noteOne(organization);
  }

  /** Notes a failure. The alarm watches how long ago the first one was. @returns whether the changes are given up */
  async function note(organization: string, error: unknown): Promise<boolean> {
    const { since, isWaiting } = await dueGaps.noteFailing(organization);
    const age = clock() - since;
    const metric = metrics.singleMetric().addMetadata("organization", organization);
    metric.addMetric("ChangesFailingSeconds", MetricUnit.Seconds, age / 1000);
    if (isWaiting && age < waitMs(error)) return false;
    await giveUp(organization, error);
    return true;
  }
  return { giveUp, note };
}
