import { StoreBusyError, describeProblems, type Problem, under } from "../lib/errors.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { readJsonBody } from "../lib/http/request-body.ts";
import { toProblemDetails } from "../lib/problem-detail.ts";
import { workItemId } from "../lib/identity.ts";
import { countFitting } from "../lib/http/response.ts";
import type { ItemResult } from "../lib/work-items/pending-input.ts";
import { createApplyWorkItems } from "../lib/work-items/apply-work-items.ts";
import type { BatchItem } from "../lib/work-items/batch-input.ts";
import type { BatchResult } from "../lib/work-items/work-item.ts";
import { toWorkItemResponse } from "../lib/work-items/work-item-response.ts";
import { workItemRoutes } from "./routes/work-items.ts";

/** The gateway waits 29 s for the response. Items that aren't applied in time get an error in it. */
const APPLY_WITHIN_MS = 20_000;

/** The most problems that the response names for one item, so that those of a hundred items fit. */
const PROBLEMS_PER_ITEM_MAX = 10;

function errorResult(
  index: number,
  externalId: string,
  problems: readonly Problem[],
  message = describeProblems(problems, "item", PROBLEMS_PER_ITEM_MAX),
): BatchResult {
  return {
    index,
    external_id: externalId,
    status: "error",
    data: null,
    error: message,
    errors: toProblemDetails(
      problems.map((problem) => under("work_items", under(index, problem))),
      PROBLEMS_PER_ITEM_MAX,
    ),
  };
}

function resultOf(item: BatchItem, index: number, applied: ItemResult | undefined): BatchResult {
  if (!("input" in item)) return errorResult(index, item.externalId, item.problems);
  const { external_id } = item.input;
  const { outcome = "error", error = null } = applied ?? {};
  if (error) return errorResult(index, external_id, [error.problem], error.message);
  return { index, external_id, status: outcome, data: null, error: null };
}

/** Adds the items to the results, up to the first that doesn't fit into the response. */
function addItems(results: readonly BatchResult[], applied: readonly (ItemResult | undefined)[]): BatchResult[] {
  const data = applied.map((result) => (result?.item ? toWorkItemResponse(result.id, result.item) : null));
  const fitting = countFitting(data, results);
  return results.map((result, index) => (index < fitting ? { ...result, data: data[index] ?? null } : result));
}

/** Notes the outcome of each item. If an item has several inputs, the last that changed it counts. */
function noteOutcomes(written: Map<string, string>, applied: readonly ItemResult[]): void {
  for (const { id } of applied) written.set(id, "unchanged");
  for (const { id, outcome } of applied) if (outcome !== "unchanged") written.set(id, outcome);
}

/** `POST /v1/work_items/batch` */
export const { create, handler } = endpoint(
  workItemRoutes.applyWorkItemBatch,
  { readBody: readJsonBody },
  (runtime) => {
    const applyWorkItems = createApplyWorkItems(runtime);
    return async ({ organization, body, deadline: end, written }) => {
      const { items, dry_run: dryRun } = body;
      const valid = items.filter((item) => "input" in item);
      const deadline = Math.min(end, runtime.clock() + APPLY_WITHIN_MS);
      if (!dryRun)
        for (const { input } of valid) written.set(workItemId(organization.id, input.external_id), "unknown");
      const applied = await applyWorkItems(organization, valid, { dryRun, deadline });
      if (!dryRun) noteOutcomes(written, applied);
      // Nothing was applied, but the items aren't the cause: a 503 says that a retry can succeed.
      if (applied.length > 0 && applied.every(({ error }) => error?.permanent === false)) {
        throw new StoreBusyError(applied[0]?.error?.message ?? "");
      }
      const inOrder = applied.values();
      const outcomes = items.map((item) => ("input" in item ? inOrder.next().value : undefined));
      const results = addItems(
        items.map((item, index) => resultOf(item, index, outcomes[index])),
        outcomes,
      );
      const summary = { total: results.length, created: 0, updated: 0, unchanged: 0, restored: 0, error: 0 };
      for (const { status } of results) summary[status] += 1;
      return { body: { data: { dry_run: dryRun, summary, results } } };
    };
  },
);
