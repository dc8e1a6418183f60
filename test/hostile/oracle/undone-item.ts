import type { Oracle } from "./oracle.ts";

/** Fields that some files clear: nobody else writes to them, but for those who touch an item. */
export const CLEARED = { agent_external_id: "before", custom_attributes: { base: 1, gone: "before" } };
/** The field of the attribute that they clear. */
export const GONE = "custom_attributes.gone";
/** When those who touch an item say that it was completed, whose status a file has set. */
export const DATED = "2026-01-02T03:04:05.000Z";

/** What those write who change what a file has set, so that its undo keeps it. */
export const MINE = "mine";

/** What is known of one item of the files. */
export interface KnownItem {
  readonly name: string;
  /** Whether it was there before the files. */
  readonly isOlder: boolean;
  /** Attributes whose write was acknowledged: each write has one of its own, so that no write hides another. */
  readonly written: Set<string>;
  /** Types that others gave it, or tried to. One that was acknowledged is never taken back to what was before the files. */
  readonly types: Set<string>;
  hasType: boolean;
  /** Its attribute that files clear, once they are undone. */
  gone: string;
  /** Whether someone has set the date of the completion that a file has set. */
  isDated: boolean;
  /** What others have written to its events, or tried to, and the events of which one was acknowledged. */
  readonly contents: Map<string, Set<string>>;
  readonly hasContent: Set<string>;
  /** Whether a write got no answer, or another one than 200 and 404: anything may have happened. */
  isUncertain: boolean;
}

/** An item before anyone has written to it. */
export const newItem = (name: string, isOlder: boolean): KnownItem => ({
  name,
  isOlder,
  written: new Set(),
  types: new Set(),
  hasType: false,
  gone: CLEARED.custom_attributes.gone,
  isDated: false,
  contents: new Map(),
  hasContent: new Set(),
  isUncertain: false,
});

/** An item as a response shows it. */
export interface FoundItem {
  readonly type: string;
  readonly status: string;
  readonly completed_at: string | null;
  readonly agent: { readonly name: string | null; readonly external_id: string | null };
  readonly custom_attributes: { readonly gone?: string | null };
  readonly events: readonly {
    readonly external_id: string;
    readonly content?: string;
    readonly deleted_at?: string;
  }[];
}

/**
 * Compares an item with what is known of it, when nothing happens any more.
 * @param found undefined if it doesn't exist
 * @param areUndone whether all files have been undone
 */
export function judgeItem(oracle: Oracle, item: KnownItem, found: FoundItem | undefined, areUndone: boolean): void {
  const { written, types, hasType, contents, hasContent, isOlder, isUncertain, name } = item;
  const taken = [...written].filter((attribute) => !found || !Object.hasOwn(found.custom_attributes, attribute));
  if (taken.length > 0) oracle.report("undone", { "writes of others were taken back": taken, name, found });
  const events = new Map(found?.events.map((event) => [event.external_id, event]));
  for (const event of hasContent) {
    const { content = "", deleted_at: deletedAt } = events.get(event) ?? {};
    const isOfFile = content === "" || content.startsWith("text");
    const isTheirs = contents.get(event)!.has(content) || (!areUndone && isOfFile);
    if (deletedAt !== undefined || !isTheirs) oracle.report("undone", { event, of: name, found });
  }
  if (!areUndone) return;
  for (const [event, { deleted_at: deletedAt }] of isOlder ? events : []) {
    if (deletedAt === undefined && !contents.has(event)) oracle.report("lost", { event, of: name, found });
  }
  const hasCleared =
    found?.agent.external_id === CLEARED.agent_external_id && found.custom_attributes.gone === item.gone;
  const isOpen = found?.status === "pending" && found.completed_at === (item.isDated ? DATED : null);
  const isBefore =
    found && hasCleared && isOpen && found.agent.name === null && Object.hasOwn(found.custom_attributes, "base");
  const isOfOthers = types.has(found?.type ?? "");
  const isRight = isBefore && (isOfOthers || (!hasType && found.type === "before"));
  if (isOlder && !isRight) oracle.report(hasType ? "undone" : "lost", { name, types: [...types], found });
  // One that a file made stays whole if someone has written to it, and is deleted otherwise.
  const isWhole = found?.type.startsWith("imported") && found.agent.name?.startsWith("Imp");
  const isUsed = written.size > 0 || hasContent.size > 0;
  if (!isOlder && !isUncertain && (isUsed ? !isWhole : found !== undefined)) {
    oracle.report(isUsed ? "undone" : "lost", { name, written: [...written], found });
  }
}
