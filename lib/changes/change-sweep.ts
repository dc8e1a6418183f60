import { isUnavailable } from "../aws/error-codes.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { listOrganizationIds } from "../organizations/access-store.ts";
import { mapConcurrently } from "../retry.ts";
import { type OriginRuntime, writeOrigin } from "../store/table-origin.ts";
import { createAppend, type NotifyWebhooks } from "./append-to-log.ts";
import { createDueGaps, type DueGap } from "./due-gaps.ts";
import { createFailures } from "./failing-changes.ts";
import { writeHeartbeats } from "./heartbeats.ts";

const CONCURRENT_LOGS = 16;

/**
 * Makes the function that writes heartbeats and the table's origin, and puts gaps into the logs where they are due: for
 * all organizations or single ones. If a log can't be appended to, its own gap is noted for the next sweep, so that no
 * other log gets a second one. The next sweep continues an interrupted one.
 * @returns a function of the time at which it stops, in milliseconds since the epoch
 */
export function createSweepChanges(
  runtime: RuntimeWith<"changes" | "access"> & OriginRuntime,
  notifyWebhooks: NotifyWebhooks,
) {
  const append = createAppend(runtime);
  const dueGaps = createDueGaps(runtime);
  const failures = createFailures(runtime);
  /** Readers that are notified find that they must load everything again. */
  const putGap = async (organization: string, until: number): Promise<void> => {
    const position = await append(organization, "gap", until);
    await notifyWebhooks(organization, position, []).catch((error: unknown) => {
      if (isUnavailable(error)) throw error;
      // The gap is put. If each sweep put another one, no reader could load.
      runtime.log.error("webhooks are not notified of a gap", { organization, error: error as Error });
    });
  };
  return async (until: number): Promise<void> => {
    await writeHeartbeats(runtime);
    await writeOrigin(runtime);
    const due = await dueGaps.readAll();
    if (due !== undefined) {
      for await (const organizations of listOrganizationIds(runtime, due.after)) {
        if (runtime.clock() > until) return;
        await mapConcurrently(organizations, CONCURRENT_LOGS, (organization) =>
          putGap(organization, until).catch(() => dueGaps.noteOne(organization)),
        );
        const last = organizations.at(-1);
        if (last !== undefined && !(await dueGaps.noteProgress(due, last))) return;
      }
      await dueGaps.clearAll(due);
    }
    const put = async (gap: DueGap): Promise<void> => {
      try {
        await putGap(gap.organization, until);
        await dueGaps.clearOne(gap);
      } catch (error) {
        if (isUnavailable(error)) throw error;
        await failures.note(gap.organization, error);
      }
    };
    for await (const gaps of dueGaps.listOnes()) await mapConcurrently(gaps, CONCURRENT_LOGS, put);
  };
}
