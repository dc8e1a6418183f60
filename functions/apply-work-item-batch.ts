import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { countFitting } from "../lib/http/answer-size.ts";
import { type ApiHandler, endpoint } from "../lib/http/endpoint.ts";
import { createApplyWorkItems } from "../lib/work-items/apply-work-items.ts";
import type { BatchOutcome } from "../lib/work-items/work-item.ts";
import { toWorkItemResponse } from "../lib/work-items/work-item-record.ts";
import { routes } from "./routes.ts";

const route = routes.applyWorkItemBatch;
/** The gateway waits 29 s: what is not applied by then could not be told. */
const APPLY_WITHIN_MS = 20_000;

export const create = (runtime: Runtime<typeof route.touches>): ApiHandler => {
  const applyWorkItems = createApplyWorkItems(runtime);
  return endpoint(route, runtime, async ({ organization, body }) => {
    const { work_items: items, dry_run: dryRun } = body;
    const inputs = items.map((input) => ({ input }));
    const deadline = runtime.clock() + APPLY_WITHIN_MS;
    const applied = await applyWorkItems(organization, inputs, { dryRun, deadline });
    const data = applied.map(({ id, item }) => (item === null ? null : toWorkItemResponse(id, item)));
    const fitting = countFitting(data);
    const results = applied.map(({ outcome, error }, index) => ({
      index,
      external_id: items[index]?.external_id ?? "",
      status: outcome as BatchOutcome,
      data: index < fitting ? (data[index] ?? null) : null,
      error: error?.message ?? null,
    }));
    const count = (status: BatchOutcome): number => results.filter((result) => result.status === status).length;
    return {
      body: {
        data: {
          dry_run: dryRun,
          summary: {
            total: results.length,
            created: count("created"),
            updated: count("updated"),
            unchanged: count("unchanged"),
            restored: count("restored"),
            error: count("error"),
          },
          results,
        },
      },
    };
  });
};

export const handler = lambda(route.touches, create);
