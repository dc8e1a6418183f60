import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { RuntimeWith } from "../aws/runtime.ts";
import { MalformedRecordError } from "../store/decode-record.ts";
import { createDueGaps } from "./due-gaps.ts";

const HOUR_MS = 60 * 60 * 1000;

/** How long changes wait after their first failure. An error other than a damaged record can be a bad deployment. */
function waitMs(error: unknown): number {
  return error instanceof MalformedRecordError ? HOUR_MS : 24 * HOUR_MS;
}

/** Decides what happens to changes that can't be appended for reasons other than a busy store. */
export function createFailures(runtime: RuntimeWith<"changes">) {
  const { clock, log } = runtime;
  const dueGaps = createDueGaps(runtime);
  const metrics = new Metrics();

  /** Has the sweep put a gap for changes that are given up. Their messages may then leave the queue. */
  async function giveUp(organization: string, error: unknown): Promise<void> {
    log.error("changes are given up for a gap", { organization, error: error as Error });
    await dueGaps.noteOne(organization);
  }

  /** Notes a failure. An alarm watches the time since the first one. @returns whether the changes are given up */
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
