import { StoreBusyError } from "../lib/errors.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { readJsonBody } from "../lib/http/request-body.ts";
import { createDeleteWorkItems } from "../lib/work-items/change-work-item.ts";
import { deletedItems, idsOf, namedItems } from "../lib/work-items/named-items.ts";
import { workItemRoutes } from "./routes/work-items.ts";

/** `POST /v1/work_items/batch_delete` */
export const { create, handler } = endpoint(
  workItemRoutes.deleteWorkItemBatch,
  { readBody: readJsonBody },
  (runtime) => {
    const deleteWorkItems = createDeleteWorkItems(runtime);
    return async ({ organization, body, deadline, written }) => {
      const named = namedItems(organization, body);
      if (!body.dry_run) for (const id of idsOf(named)) written.set(id, "unknown");
      const deletions = await deleteWorkItems(organization, idsOf(named), { dryRun: body.dry_run, deadline });
      if (!body.dry_run) for (const [id, { status }] of deletions) written.set(id, status);
      const results = deletedItems(named, deletions);
      // Nothing was deleted, but the items aren't the cause: a 503 says that a retry can succeed.
      const isBusy = results.every(({ id }) => deletions.get(id ?? "")?.permanent === false);
      if (isBusy) throw new StoreBusyError(results[0]?.error ?? "");
      const summary = { total: results.length, deleted: 0, unchanged: 0, not_found: 0, error: 0 };
      for (const { status } of results) summary[status] += 1;
      return { body: { data: { dry_run: body.dry_run, summary, results } } };
    };
  },
);
