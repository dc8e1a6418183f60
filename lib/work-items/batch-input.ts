import * as z from "zod";
import type { Problem } from "../errors.ts";
import { boundedArray, externalId, problemsOf } from "../schema.ts";
import { EVENTS_PER_BATCH_MAX, ITEMS_PER_BATCH_MAX, type WorkItemInput, workItemInputSchema } from "./work-item.ts";

/** An item of a batch: a valid input, or its problems. */
export type BatchItem =
  | { readonly input: WorkItemInput }
  | {
      /** "" if it isn't valid. */
      readonly externalId: string;
      readonly problems: readonly Problem[];
    };

function countEvents(item: unknown): number {
  const events = typeof item === "object" && item !== null && "events" in item ? item.events : undefined;
  return Array.isArray(events) ? events.length : 0;
}

/** How the OpenAPI document refers to the schema that validates each item. */
const ITEM_REFERENCE = { $ref: "#/components/schemas/WorkItemInput" };

/** A batch whose items aren't validated yet. */
const envelopeSchema = z.strictObject({
  work_items: boundedArray(z.unknown().meta({ override: ITEM_REFERENCE }), ITEMS_PER_BATCH_MAX, "items")
    .refine((items) => items.length > 0, { error: "must have at least 1 item", params: { code: "too_small" } })
    .refine((items) => items.reduce<number>((sum, item) => sum + countEvents(item), 0) <= EVENTS_PER_BATCH_MAX, {
      error: `must have at most ${EVENTS_PER_BATCH_MAX} events in all`,
      params: { code: "too_big" },
    })
    .meta({ minItems: 1, description: "The work items, applied in this order." }),
  dry_run: z.boolean().default(false).describe("If true, nothing is saved, and the response shows what would happen."),
  on_invalid: z
    .enum(["refuse", "skip"])
    .default("refuse")
    .describe(
      "What to do if an item isn't valid: `refuse` rejects the whole batch; with `skip`, items may be anything: the valid ones are applied, and the others get an `error`. Extension.",
    ),
});

function externalIdOf(item: unknown): string {
  const given = typeof item === "object" && item !== null && "external_id" in item ? item.external_id : undefined;
  const { data = "" } = externalId.safeParse(given);
  return data;
}

/** Input of a batch. By default, an invalid item makes the whole batch invalid. */
export const batchInputSchema = envelopeSchema.transform(
  ({ work_items: items, on_invalid: onInvalid, ...rest }, context) => {
    const parsed = items.map((item) => workItemInputSchema.safeParse(item));
    if (onInvalid === "refuse") {
      for (const [index, { error }] of parsed.entries()) {
        for (const issue of error?.issues ?? []) {
          context.issues.push({ ...issue, path: ["work_items", index, ...issue.path], input: undefined });
        }
      }
    }
    const batch = parsed.map(({ success, data, error }, index): BatchItem =>
      success ? { input: data } : { externalId: externalIdOf(items[index]), problems: problemsOf(error) },
    );
    return { ...rest, items: batch };
  },
);
