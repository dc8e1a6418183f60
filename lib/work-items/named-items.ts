import * as z from "zod";
import type { Attributes } from "../aws/attribute-values.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import type { CountFitting } from "../store/lists/page.ts";
import { workItemId } from "../identity.ts";
import type { Organization } from "../organizations/organization.ts";
import { boundedArray, count, externalId, parseUuid, rule, uuid } from "../schema.ts";
import { batchGet } from "../store/batch-get.ts";
import { logDamaged, unlessDamaged } from "../store/decode-record.ts";
import type { RecordKey } from "../store/versioned-record.ts";
import type { Deletion } from "./change-work-item.ts";
import { ATTRIBUTES_READ } from "./work-item-list.ts";
import { ITEMS_PER_BATCH_MAX, workItemSchema } from "./work-item.ts";
import { itemIdOf, itemKey, workItemFrom } from "./work-item-record.ts";
import { toWorkItemResponse } from "./work-item-response.ts";

function names(description: string) {
  return boundedArray(z.string(), ITEMS_PER_BATCH_MAX, "values")
    .refine((values) => values.length > 0, rule("too_small", "must have at least 1 value"))
    .optional()
    .meta({ minItems: 1, description });
}

const NAMES = {
  external_ids: names("Your IDs of the work items. Send either these or `ids`."),
  ids: names("IDs of the work items. Send either these or `external_ids`."),
};

/** The names of items in a request. */
export type NamesInput = { readonly [N in keyof typeof NAMES]?: readonly string[] | undefined };

/** Input that names up to a hundred work items. Names needn't be valid IDs: those that aren't match no item. */
export function namesSchema<S extends z.ZodRawShape>(more: S) {
  return z.strictObject({ ...NAMES, ...more }).superRefine((value, context) => {
    const { external_ids: externalIds, ids } = value as NamesInput;
    if ((externalIds === undefined) !== (ids === undefined)) return;
    context.addIssue({
      code: "custom",
      path: [],
      message: "must have either external_ids or ids",
      params: { code: ids === undefined ? "required" : "invalid" },
    });
  });
}

/** Keys of a result that identify its item. */
const NAME_SHAPE = {
  index: count.describe("Position in the request, starting at 0."),
  id: uuid.nullable().describe("ID of the work item. Null if you sent no valid one."),
  external_id: z.string().nullable().describe("Your ID of the work item. Null if it isn't known or isn't valid."),
};
const FAILURE = z.string().nullable();

/** What a batch found for one name. */
export const foundItemSchema = z
  .strictObject({
    ...NAME_SHAPE,
    status: z
      .enum(["found", "deleted", "not_found", "not_returned", "error"])
      .describe("`not_returned`: it didn't fit in the response. Ask for it again."),
    data: workItemSchema.nullable().describe("The item without its events. Null unless the status is `found`."),
    error: FAILURE.describe("Why the item couldn't be read. Null unless the status is `error`."),
  })
  .meta({ id: "BatchGetResult", description: "What was found of one work item." });

/** A value of `foundItemSchema`. */
type FoundItem = z.input<typeof foundItemSchema>;

/** What a batch did with one item to delete. */
export const deletedItemSchema = z
  .strictObject({
    ...NAME_SHAPE,
    status: z
      .enum(["deleted", "unchanged", "not_found", "error"])
      .describe("`unchanged`: it was deleted before. `error`: it isn't deleted. Send the request again."),
    error: FAILURE.describe("Why the item couldn't be deleted. Null unless the status is `error`."),
  })
  .meta({ id: "BatchDeleteResult", description: "What happened to one work item." });
/** A value of `deletedItemSchema`. */
export type DeletedItem = z.input<typeof deletedItemSchema>;

/** An item that a request names. */
export interface NamedItem {
  readonly index: number;
  /** Null if the name isn't valid. */
  readonly id: string | null;
  /** Null if the request names it by its id. */
  readonly external_id: string | null;
}

/** The items that a request names, in its order. */
export function namedItems(
  organization: Organization,
  { external_ids: externalIds, ids = [] }: NamesInput,
): NamedItem[] {
  return (
    externalIds?.map((value, index) => {
      const { data = null } = externalId.safeParse(value);
      return { index, id: data === null ? null : workItemId(organization.id, data), external_id: data };
    }) ?? ids.map((value, index) => ({ index, id: parseUuid(value) ?? null, external_id: null }))
  );
}

/** The distinct ids of items. */
export function idsOf(items: readonly NamedItem[]): string[] {
  return [...new Set(items.map(({ id }) => id).filter((id) => id !== null))];
}

const NOT_FOUND = { status: "not_found", data: null, error: null } as const;
const DAMAGED = { status: "error", data: null, error: "its record is damaged" } as const;

/** @throws MalformedRecordError */
function foundIn(id: string, record: Attributes) {
  const item = workItemFrom(record)!;
  const found = { external_id: item.external_id, data: null, error: null };
  return item.deleted_at === null
    ? ({ ...found, status: "found", data: toWorkItemResponse(id, item) } as const)
    : ({ ...found, status: "deleted" } as const);
}

/** Makes the function that reads named items, including deleted ones, in one BatchGetItem. It throws StoreBusyError. */
export function createFindItems(runtime: RuntimeWith<"workItems">, countFitting: CountFitting) {
  const { dynamodb, environment } = runtime;
  const onDamaged = logDamaged(runtime);
  return async (organization: Organization, named: readonly NamedItem[]): Promise<FoundItem[]> => {
    const keys = idsOf(named).map((id) => itemKey(organization.id, id));
    const records = await batchGet(dynamodb, environment.WORK_ITEMS_TABLE, keys, ATTRIBUTES_READ);
    const found = new Map(
      records.map((record) => {
        const id = itemIdOf(record as Attributes & RecordKey);
        return [id, unlessDamaged(() => foundIn(id, record), onDamaged) ?? DAMAGED] as const;
      }),
    );
    const results = named.map((name): FoundItem => ({ ...name, ...(found.get(name.id ?? "") ?? NOT_FOUND) }));
    const fitting = countFitting(
      results.map(({ data }) => data),
      named,
    );
    return results.map((result, index) =>
      index >= fitting && result.status === "found" ? { ...result, status: "not_returned", data: null } : result,
    );
  };
}

/** The results of deleting named items; `unchanged` for repeated names. @param deletions by the items' ids */
export function deletedItems(named: readonly NamedItem[], deletions: ReadonlyMap<string, Deletion>): DeletedItem[] {
  const deleted = new Set<string>();
  return named.map((name): DeletedItem => {
    const { id } = name;
    const deletion: Deletion = deletions.get(id ?? "") ?? { status: "not_found" };
    const { status, external_id = name.external_id, error = null } = deletion;
    if (status !== "deleted" || id === null) return { ...name, external_id, status, error };
    const isRepeated = deleted.has(id);
    deleted.add(id);
    return { ...name, external_id, status: isRepeated ? "unchanged" : status, error };
  });
}

/** A result without the `external_id`, unless the request contained it. */
export function withoutFoundName(result: DeletedItem, { external_ids: sent }: NamesInput): DeletedItem {
  return sent === undefined ? { ...result, external_id: null } : result;
}
