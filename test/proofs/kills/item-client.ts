import { setTimeout as sleep } from "node:timers/promises";
import { workItemId } from "../../../lib/identity.ts";
import { contentIn, type Content } from "../faults/upload-file.ts";
import { applyFields, applyInput, type ItemInput, type ModelItem } from "../model/reference-item.ts";
import { type CallerResponse, ORGANIZATION, type PatientCaller } from "./callers.ts";
import type { Single, UploadedJob } from "./uploader.ts";

type Change = "patch" | "delete" | "restore";
/** What a client does to one item, in order, after it has seen what the item's row does. */
const SCRIPTS: readonly (readonly Change[])[] = [
  ["patch"],
  ["delete"],
  ["patch", "delete"],
  ["delete", "restore"],
  ["delete", "restore", "patch"],
];
const POLL_EVERY_MS = 50;

/** The path of an item. */
export const pathOf = (externalId: string): string => `/v1/work_items/${workItemId(ORGANIZATION, externalId)}`;

/** Whether a row changes nothing, so that it leaves no trace. */
const isHidden = ({ kind, hasEvent }: Single): boolean => kind === "kept" && !hasEvent;

/** Dependencies of `createItemClient`. */
interface Connection {
  readonly caller: PatientCaller;
  readonly random: () => number;
  /** Whether all jobs should have ended. */
  readonly isOver: () => boolean;
  readonly report: (difference: object) => void;
}

/**
 * A client that changes items of a file while its rows are applied. Before it has seen the effect of an item's only row
 * it changes only what the row leaves alone, so that either order gives the same item. Once it has seen it, it changes,
 * deletes and restores the item: from then on the row must not have an effect again.
 */
export function createItemClient({ caller: { call }, random, isOver, report }: Connection) {
  const states = new Map<string, ModelItem>();
  let seen = 0;
  let unseen = 0;

  function isApplied(single: Single, { status, body }: CallerResponse): boolean {
    if (status !== 200 || isHidden(single)) return false;
    const { hasEvent } = single;
    const { type, events = [] } = body.data as Content & { readonly events?: readonly { external_id: string }[] };
    return type === "first" && (!hasEvent || events.some(({ external_id: event }) => event === "e0"));
  }
  async function apply(input: ItemInput): Promise<void> {
    for (;;) {
      const { body } = await call("POST", "/v1/work_items/batch", { work_items: [input] });
      const { results } = body.data as { readonly results: readonly { readonly status: string }[] };
      if (results[0]?.status !== "error") return;
    }
  }
  async function make(before: ModelItem, change: Change): Promise<void> {
    const { external_id: name } = before;
    const input = { external_id: name, type: `${change} ${random()}` };
    if (change === "restore") {
      await apply(input);
      states.set(name, applyInput(before, input, "").item);
      return;
    }
    const response =
      change === "delete"
        ? await call("DELETE", pathOf(name))
        : await call("PATCH", pathOf(name), { work_item: { type: input.type } });
    if (response.status !== 200) report({ name, change, response });
    states.set(name, change === "delete" ? { ...before, deleted: true } : applyFields(before, input, "").item);
  }
  /** Changes what no row changes. */
  async function add(before: ModelItem): Promise<void> {
    const custom_attributes = { added: random() };
    const response = await call("PATCH", pathOf(before.external_id), { work_item: { custom_attributes } });
    if (response.status !== 200) report({ name: before.external_id, added: custom_attributes, response });
    const input = { external_id: before.external_id, custom_attributes };
    states.set(before.external_id, applyFields(before, input, "").item);
  }

  return {
    /** What the items that it has changed must be in the end. */
    states: states as ReadonlyMap<string, ModelItem>,
    /** How many rows it has seen applied. */
    seen: () => seen,
    /** Whether there are rows that it waits for. */
    isWaiting: () => unseen > 0,
    /** Changes the items of a job until each script is done. Reports rows that are not applied although all jobs have ended. */
    change: async ({ singles, items }: UploadedJob): Promise<void> => {
      const waiting = singles.map((single) => ({
        single,
        isSeen: false,
        changes: [...SCRIPTS[Math.floor(random() * SCRIPTS.length)]!],
      }));
      unseen += singles.filter((single) => !isHidden(single)).length;
      while (waiting.length > 0) {
        const isLast = isOver();
        for (const each of waiting.filter(() => isLast || random() < 0.3)) {
          const { single, changes } = each;
          const state = () => states.get(single.externalId) ?? items.get(single.externalId)!;
          if (!each.isSeen) {
            each.isSeen = isApplied(single, await call("GET", pathOf(single.externalId)));
            if (each.isSeen) {
              seen += 1;
              unseen -= 1;
            }
          }
          const isThere = single.kind === "changed" || single.kind === "kept";
          if (each.isSeen) await make(state(), changes.shift()!);
          else if (isThere && !states.has(single.externalId) && random() < 0.3) await add(state());
          if (isLast && !each.isSeen && !isHidden(single)) report({ "not applied": single });
          const isDone = changes.length === 0 || (isLast && !each.isSeen);
          if (isDone) waiting.splice(waiting.indexOf(each), 1);
        }
        await sleep(POLL_EVERY_MS);
      }
    },
  };
}

/** What a client reads of an item in a given state; undefined if the item is deleted. */
export function shownOf(item: ModelItem): Content | undefined {
  return item.deleted ? undefined : contentIn(ORGANIZATION, item);
}
