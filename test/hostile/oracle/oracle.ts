import { isoTime } from "../../../lib/clock.ts";
import { type Answer, type FindingKind, ItemHistory } from "./item-history.ts";
import type { Operation } from "./item-operations.ts";
import { Span } from "./reference-item.ts";

/** What should never have come about, and what led to it. */
export interface Finding {
  readonly kind: FindingKind;
  readonly seed: number;
  readonly details: string;
}

/** Lines of a story that are shown, from its end. */
const STORY_LINES = 24;
const LATEST = "9999";

/** An operation on an item from its beginning on. */
export interface Call {
  readonly item: Item;
  readonly operation: Operation;
  readonly id: number;
  /** Milliseconds since the epoch by the clock of its function. */
  readonly begunAt: number;
}

/** An item: all that it can be, and what has happened to it. */
interface Item {
  readonly externalId: string;
  readonly history: ItemHistory;
  readonly story: string[];
}

/** What a world's callers know, and what contradicts it. */
export class Oracle {
  readonly findings: Finding[] = [];
  /** Writes that were answered. */
  acknowledged = 0;
  /** Items of which there were too many ways. */
  unfollowed = 0;
  /** Lists of items that were compared with what is known. */
  lists = 0;
  /** Ids of upload jobs, by organization. */
  readonly jobs = new Map<string, readonly string[]>();
  readonly #seed: number;
  readonly #clock: () => number;
  readonly #start: number;
  readonly #items = new Map<string, Map<string, Item>>();

  constructor(seed: number, clock: () => number) {
    this.#seed = seed;
    this.#clock = clock;
    this.#start = clock();
  }

  report(kind: FindingKind, details: unknown, story: readonly string[] = []): void {
    const text = typeof details === "string" ? details : JSON.stringify(details);
    this.findings.push({ kind, seed: this.#seed, details: [...story.slice(-STORY_LINES), text].join("\n    ") });
  }

  /** The items of an organization that calls have named. */
  itemsOf(organization: string): ReadonlyMap<string, Item> {
    return this.#items.get(organization) ?? new Map<string, Item>();
  }
  item(organization: string, externalId: string): Item {
    const items = this.#items.get(organization) ?? new Map<string, Item>();
    this.#items.set(organization, items);
    const item = items.get(externalId) ?? { externalId, history: new ItemHistory(organization), story: [] };
    items.set(externalId, item);
    return item;
  }
  tell({ story }: Item, text: string): void {
    story.push(`+${((this.#clock() - this.#start) / 1000).toFixed(1)} s ${text}`);
  }

  /** @param clock that of the function */
  begin(organization: string, operation: Operation, clock = this.#clock): Call {
    const item = this.item(organization, operation.externalId);
    const begunAt = clock();
    const id = item.history.begin(operation, new Span(isoTime(begunAt), LATEST));
    return { item, operation, id, begunAt };
  }
  /** The organization was erased: nothing is there, and nothing continues. */
  erase(organization: string): void {
    for (const { history, story } of this.itemsOf(organization).values()) {
      history.erase();
      story.length = 0;
    }
  }
  freeze({ item, id }: Call): void {
    item.history.freeze(id);
  }
  thaw({ item, id }: Call): void {
    item.history.thaw(id);
  }
  beLate({ item, id }: Call): void {
    item.history.beLate(id);
  }
  /** @param answers none if it has ended without a response */
  end({ item, operation, id, begunAt }: Call, clock = this.#clock, answers?: readonly Answer[]): void {
    if (answers !== undefined && operation.kind !== "get") this.acknowledged += 1;
    const wasFollowed = item.history.isFollowed;
    const now = new Span(isoTime(begunAt), isoTime(Math.max(begunAt, clock())));
    const contradiction = item.history.end(id, now, answers);
    if (contradiction !== undefined) {
      const { kind, observed, possible } = contradiction;
      this.report(kind, { item: item.externalId, operation, observed, possible: possible.slice(0, 4) }, item.story);
    } else if (wasFollowed && !item.history.isFollowed) this.unfollowed += 1;
  }
}
