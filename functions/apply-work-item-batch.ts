import { StoreBusyError } from "../lib/errors.ts";
import type { ApiHandler } from "../lib/http/chain.ts";
import { endpointWithBody } from "../lib/http/endpoint.ts";
import { readJsonBody } from "../lib/http/json-body.ts";
import { createDynamoDbClient } from "../lib/runtime/dynamodb-client.ts";
import { countFitting } from "../lib/runtime/response-size.ts";
import { lambda, type Runtime } from "../lib/runtime/runtime.ts";
import { createApplyWorkItems } from "../lib/work-items/apply-work-items.ts";
import type { BatchOutcome } from "../lib/work-items/work-item.ts";
import { toWorkItemResponse } from "../lib/work-items/work-item-response.ts";
import { routes } from "./routes.ts";

const route = routes.applyWorkItemBatch;
/** The gateway waits 29 s for the response: items that are not applied in time get an error in it. */
const APPLY_WITHIN_MS = 20_000;

/** `POST /v1/work_items/batch` */
export const create = (runtime: Runtime<typeof route.permissions>): ApiHandler => {
  const applyWorkItems = createApplyWorkItems(runtime);
  return endpointWithBody(route, runtime, readJsonBody, async ({ organization, body }) => {
    const { work_items: items, dry_run: dryRun } = body;
    const inputs = items.map((input) => ({ input }));
    const deadline = runtime.clock() + APPLY_WITHIN_MS;
    const applied = await applyWorkItems(organization, inputs, { dryRun, deadline });
    // Nothing could be applied, and through no fault of the items: whoever repeats the call by itself can know that.
    if (applied.every(({ error }) => error?.permanent === false)) {
      throw new StoreBusyError(applied[0]?.error?.message ?? "");
    }
    const data = applied.map(({ id, item }) => (item === null ? null : toWorkItemResponse(id, item)));
    const fitting = countFitting(data);
    const results = applied.map(({ outcome, error }, index) => ({
      index,
      external_id: items[index]?.external_id ?? "",
      status: outcome,
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

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
