import type { RuntimeWith } from "../aws/runtime.ts";
import { listOrganizationIds } from "../organizations/access-store.ts";
import { mapConcurrently } from "../retry.ts";
import { createAppend } from "./append.ts";
import { createHeartbeatNotes, writeHeartbeats } from "./heartbeats.ts";

const CONCURRENT_LOGS = 16;

/**
 * Makes the function that writes heartbeats, and puts holes into the logs of all organizations where they are due. One
 * that is interrupted continues at its next call, after the organizations that have theirs.
 * @returns a function of the time after which it stops, in milliseconds since the epoch
 */
export function createSweepChanges(runtime: RuntimeWith<"workItems" | "changes" | "access">) {
  const append = createAppend(runtime);
  const notes = createHeartbeatNotes(runtime);
  return async (until: number): Promise<void> => {
    await writeHeartbeats(runtime);
    const due = await notes.readDueHoles();
    if (due === undefined) return;
    for await (const organizations of listOrganizationIds(runtime, due.after)) {
      await mapConcurrently(organizations, CONCURRENT_LOGS, (organization) => append(organization, "hole", until));
      const last = organizations.at(-1);
      if (last !== undefined && !(await notes.keepPlace(due, last))) return;
    }
    await notes.clearDueHoles(due);
  };
}
