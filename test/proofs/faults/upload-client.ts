import { isDeepStrictEqual } from "node:util";
import type { RouteName } from "../../support/handlers.ts";
import { applyFields, applyInput, type ModelItem } from "../model/reference-item.ts";
import type { ProofResponse } from "../proof-service.ts";
import { type Content, contentIn, contentOf, type UploadFile } from "./upload-file.ts";

type Change = "patch" | "delete" | "restore";
/** What a client does to one item, in order. */
const SCRIPTS: readonly (readonly Change[])[] = [
  ["patch"],
  ["delete"],
  ["patch", "delete"],
  ["delete", "restore"],
  ["delete", "restore", "patch"],
  ["patch", "patch"],
];
/** Changes between two deliveries, at most. */
const CHANGES_AT_ONCE = 3;

/** Dependencies of `createUploadClient`. */
interface Connection {
  readonly organization: string;
  readonly random: () => number;
  /** Calls an item's endpoint until it is answered. */
  readonly callItem: (route: RouteName, externalId: string, body?: unknown) => Promise<ProofResponse>;
  readonly report: (details: unknown) => void;
}

const dataOf = ({ body }: ProofResponse): Content => (body as { readonly data: Content }).data;

/**
 * A client that changes, deletes and restores items of a file while its rows are applied. It changes an item only after
 * it has seen all that the item's only row does: from then on the row must not have an effect again.
 */
export const createUploadClient = (
  { organization, random, callItem, report }: Connection,
  { singles }: UploadFile,
  applied: ReadonlyMap<string, ModelItem>,
) => {
  const waiting = new Map(
    singles.map(({ input, kind }) => [
      input.external_id,
      { kind, hasEvent: input.events !== undefined, changes: [...SCRIPTS[Math.floor(random() * SCRIPTS.length)]!] },
    ]),
  );
  const states = new Map<string, ModelItem>();

  const isApplied = async (name: string): Promise<boolean> => {
    const response = await callItem("getWorkItem", name);
    if (response.status !== 200) return false;
    return isDeepStrictEqual(contentOf(dataOf(response)), contentIn(organization, applied.get(name)!));
  };
  const make = async (name: string, change: Change): Promise<void> => {
    const before = states.get(name) ?? applied.get(name)!;
    const type = `${change} ${random()}`;
    if (change === "delete") {
      const response = await callItem("deleteWorkItem", name);
      if (response.status !== 200) report({ name, change, response });
      states.set(name, { ...before, deleted: true });
    } else if (change === "patch") {
      const response = await callItem("updateWorkItem", name, { work_item: { type } });
      if (response.status !== 200) report({ name, change, response });
      states.set(name, applyFields(before, { external_id: name, type }, "").item);
    } else {
      const input = { external_id: name, type };
      for (let isDone = false; !isDone;) {
        const response = await callItem("applyWorkItemBatch", name, { work_items: [input] });
        const { results } = dataOf(response) as { readonly results: readonly { readonly status: string }[] };
        isDone = results[0]?.status !== "error";
      }
      states.set(name, applyInput(before, input, "").item);
    }
  };

  return {
    /** What the client has made of the items that it has changed. */
    states: states as ReadonlyMap<string, ModelItem>,
    /** Changes some of the items whose rows are applied by now. */
    change: async (): Promise<void> => {
      const names = [...waiting.keys()].filter(() => random() < 0.3).slice(0, 2 * CHANGES_AT_ONCE);
      let made = 0;
      for (const name of names) {
        const { kind, hasEvent, changes } = waiting.get(name)!;
        // A row that changes nothing leaves no trace.
        const isVisible = kind !== "kept" || hasEvent;
        if (!isVisible || made >= CHANGES_AT_ONCE) continue;
        if (!states.has(name) && !(await isApplied(name))) continue;
        await make(name, changes.shift()!);
        made += 1;
        if (changes.length === 0) waiting.delete(name);
      }
    },
  };
};
