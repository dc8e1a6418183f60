import type { RuntimeWith } from "../runtime/runtime.ts";
import { type AgentsIndexed, indexAgents } from "../work-items/index-agents.ts";
import { changeOrganization, getOrganization } from "./administration.ts";
import { toOrganization } from "./organization.ts";

/** Pages after which the position is kept: an interrupted run repeats at most so many. */
const PAGES_PER_POSITION = 20;

/**
 * Fills an organization's agents index, and then lets the list's filter by agent read it. An interrupted run goes on
 * where it was.
 * @yields after each page of a hundred items
 * @throws NotFoundError, StoreBusyError
 */
export async function* reindexOrganization(
  runtime: RuntimeWith<"workItems" | "access">,
  id: string,
): AsyncGenerator<AgentsIndexed> {
  const record = await getOrganization(runtime, id);
  let pages = 0;
  for await (const progress of indexAgents(runtime, toOrganization(record), record.reindexed_to)) {
    pages += 1;
    if (pages % PAGES_PER_POSITION === 0) await changeOrganization(runtime, id, { reindexed_to: progress.position });
    yield progress;
  }
  await changeOrganization(runtime, id, { agents_indexed: true, reindexed_to: "" });
}
