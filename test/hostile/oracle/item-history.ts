import { isDeepStrictEqual } from "node:util";
import {
  type Expected,
  NOT_BEGUN,
  type Operation,
  type Progress,
  type State,
  type Step,
  stepsOf,
} from "./item-operations.ts";
import { type ModelEvent, type ModelItem, Span, type Time } from "./reference-item.ts";

/** What a response says of an item; of a batch, one result after the other. */
export interface Answer {
  readonly status: number | string;
  readonly data?: unknown;
  /** That of the `ETag`. */
  readonly version?: number | undefined;
}

/**
 * What must never come about. `lost`: something acknowledged isn't there, or never ends; `doubled`: something has taken
 * effect twice; `undone`: something acknowledged was there and isn't any more; `wrong`: a response says something else than
 * what was done, or shows something of another organization; `missed`: a copy kept by the feed lacks something.
 */
export type FindingKind = "lost" | "doubled" | "undone" | "wrong" | "missed";

/** An operation that may happen from its beginning until it has ended. */
interface Open {
  readonly id: number;
  readonly operation: Operation;
  /** When it can happen, by the clock of its function. */
  readonly now: Time;
  /** Operations from this one on began after its function froze: it has read nothing of theirs. */
  readonly frozenBefore: number;
  /** Its time was over when it continued: it can only write what it has sent, on what it had read. */
  readonly isLate: boolean;
}

/** What becomes known of an operation. */
type Event = { readonly id: number } & (
  | { readonly kind: "begins"; readonly operation: Operation; readonly now: Time }
  | { readonly kind: "freezes"; readonly before: number }
  | { readonly kind: "continues" }
  | { readonly kind: "is late" }
  /** It has done everything that it has done by now. */
  | { readonly kind: "ends"; readonly now: Time; readonly answers: readonly Answer[] | undefined }
);

/** One way in which everything can have happened so far. */
interface Branch {
  readonly state: State;
  readonly progress: ReadonlyMap<number, Progress>;
  /** All that a read may have seen since it began. */
  readonly reads: ReadonlyMap<number, readonly State[]>;
}

/** An item with more ways than these is not followed any further. */
const BRANCHES_MAX = 4000;
/** How many steps of others are tried between two of an operation; all if these explain nothing. */
const OTHERS = [0, 1, 2, 4, Infinity] as const;

/** Whether a value is what the model says, where times may be spans. */
export function matches(expected: unknown, actual: unknown): boolean {
  if (expected instanceof Span) return typeof actual === "string" && expected.has(actual);
  if (typeof expected !== "object" || typeof actual !== "object" || expected === null || actual === null) {
    return expected === actual;
  }
  const names = Object.keys(expected);
  return (
    Array.isArray(expected) === Array.isArray(actual) &&
    names.length === Object.keys(actual).length &&
    names.every(
      (name) => Object.hasOwn(actual, name) && matches(expected[name as never] as unknown, actual[name as never]),
    )
  );
}

type Shown = Readonly<Record<string, unknown>> & { readonly events?: readonly Readonly<Record<string, unknown>>[] };

const byId = (data: unknown): unknown => {
  const { events } = data as Shown;
  return Array.isArray(events)
    ? {
        ...(data as Shown),
        events: events.toSorted((a: Shown, b: Shown) => (String(a["id"]) < String(b["id"]) ? -1 : 1)),
      }
    : data;
};
const without = (data: unknown, ...names: readonly string[]): unknown =>
  Object.fromEntries(Object.entries(data as Shown).filter(([name]) => !names.includes(name)));

/** The item with the times and the version that a response has shown. */
function bind(item: ModelItem, { data, version = item.version }: Answer): ModelItem {
  const shown = data as Shown;
  const events = new Map<unknown, Partial<ModelEvent>>(shown.events?.map((each) => [each["external_id"], each]));
  const bound = Object.entries(item.events).map(([name, event]) => {
    const { created_at = event.created_at, deleted_at = event.deleted_at } = events.get(name) ?? {};
    return [name, { ...event, created_at, deleted_at }] as const;
  });
  const { created_at = item.created_at, updated_at = item.updated_at } = data as Partial<ModelItem>;
  return { ...item, created_at, updated_at, version, events: Object.fromEntries(bound) };
}

const isSameItem = (a: State, b: State): boolean =>
  a === b || (a !== undefined && b !== undefined && isDeepStrictEqual({ ...a, events: {} }, { ...b, events: {} }));

/** The records that differ between two states: the item's, and events by name. */
function recordsIn(a: State, b: State): string[] {
  const names = new Set([...Object.keys(a?.events ?? {}), ...Object.keys(b?.events ?? {})]);
  const events = [...names].filter((name) => !isDeepStrictEqual(a?.events[name], b?.events[name]));
  return isSameItem(a, b) ? events : ["the item", ...events];
}

const texts = new WeakMap<object, string>();
/** A value as text, made once. The items that progress shows are in its data too. */
function textOf(value: object | undefined): string {
  if (value === undefined) return "";
  const known = texts.get(value);
  if (known !== undefined) return known;
  const { events } = value as Partial<ModelItem>;
  const sorted = Array.isArray(events)
    ? {}
    : { events: Object.entries(events ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)) };
  const text = JSON.stringify({ ...value, ...sorted }, (name, each: unknown) => (name === "item" ? undefined : each));
  texts.set(value, text);
  return text;
}

const keyOf = ({ state, progress, reads }: Branch): string => {
  const sorted = [...progress].toSorted(([a], [b]) => a - b).map(([id, each]) => `${id} ${textOf(each)}`);
  const seen = [...reads].toSorted(([a], [b]) => a - b).map(([id, states]) => `${id} ${states.map(textOf).join()}`);
  return [textOf(state), ...sorted, ...seen].join("\n");
};

/** Whether a response shows what an operation has seen. */
function explains(kind: Operation["kind"], shown: readonly Expected[], answers: readonly Answer[]): boolean {
  return (
    shown.length === answers.length &&
    shown.every(({ status, data, version }, index) => {
      const answer = answers[index]!;
      if (status !== answer.status) return false;
      if (version !== undefined && answer.version !== undefined && version !== answer.version) return false;
      if (data === undefined || answer.data === undefined) return true;
      const [expected, actual] = [byId(data), byId(answer.data)];
      // PATCH shows events that were read before the item was written. Lists and the feed show none.
      const isPartial = kind === "patch" || !("events" in (actual as object));
      return isPartial ? matches(without(expected, "events"), without(actual, "events")) : matches(expected, actual);
    })
  );
}

/** How a response contradicts all that can have happened. */
export interface Contradiction {
  readonly kind: FindingKind;
  readonly observed: unknown;
  readonly possible: readonly unknown[];
}

class TooManyWaysError extends Error {}

/** The ways in which everything can have happened, if no more than so many steps of others come between two of an operation. */
class Ways {
  readonly #organization: string;
  readonly #others: number;
  readonly #open = new Map<number, Open>();
  #branches: readonly Branch[] = [{ state: undefined, progress: new Map(), reads: new Map() }];

  constructor(organization: string, others: number) {
    this.#organization = organization;
    this.#others = others;
  }

  get states(): readonly State[] {
    return this.#branches.map(({ state }) => state);
  }
  get isSettled(): boolean {
    return this.#open.size === 0;
  }

  /** @returns how the event contradicts everything that can have happened @throws TooManyWaysError */
  add(event: Event): Contradiction | undefined {
    const { id } = event;
    const open = this.#open.get(id);
    if (event.kind === "begins") this.#begin(event);
    else if (open === undefined) return undefined;
    else if (event.kind === "freezes") {
      this.#open.set(id, { ...open, frozenBefore: Math.min(open.frozenBefore, event.before) });
    } else if (event.kind === "continues") this.#continue(open);
    else if (event.kind === "is late") this.#open.set(id, { ...open, isLate: true });
    else return this.#end({ ...open, now: event.now }, event.answers);
    return undefined;
  }

  #begin({ id, operation, now }: Extract<Event, { kind: "begins" }>): void {
    this.#open.set(id, { id, operation, now, frozenBefore: Infinity, isLate: false });
    if (operation.kind !== "get") return;
    this.#branches = this.#branches.map((branch) => {
      return { ...branch, reads: new Map([...branch.reads, [id, [branch.state]]]) };
    });
  }

  /** It reads again what has changed. */
  #continue(open: Open): void {
    this.#open.set(open.id, { ...open, frozenBefore: Infinity });
    this.#branches = this.#branches.map((branch) => {
      const { changed: _changed, ...own } = branch.progress.get(open.id) ?? NOT_BEGUN;
      return { ...branch, progress: new Map([...branch.progress, [open.id, own]]) };
    });
  }

  #end(open: Open, answers: readonly Answer[] | undefined): Contradiction | undefined {
    const { id, operation } = open;
    this.#open.set(id, open);
    const isRead = operation.kind === "get";
    const left = isRead ? this.#readBy(id, answers?.[0]) : this.#writtenBy(open, answers);
    if (left.length === 0) {
      const possible = isRead
        ? this.#branches.flatMap(({ reads, state }) => (reads.get(id) ?? [state]).map((each) => this.#shownOf(each)))
        : this.#reach(id, ({ progress }) => progress.get(id)?.isOver === true).map(
            ({ progress }) => progress.get(id)?.shown ?? [],
          );
      const shown = possible.map((all) => all.map(({ status, data, version }) => ({ status, data, version })));
      return { kind: this.#kindOf(operation, answers), observed: answers, possible: shown };
    }
    this.#branches = left;
    this.#close(id);
    return undefined;
  }

  #close(id: number): void {
    this.#open.delete(id);
    const drop = <T>(map: ReadonlyMap<number, T>) => new Map([...map].filter(([other]) => other !== id));
    const byKey = new Map<string, Branch>();
    for (const { state, progress, reads } of this.#branches) {
      const branch = { state, progress: drop(progress), reads: drop(reads) };
      byKey.set(keyOf(branch), branch);
    }
    this.#branches = [...byKey.values()];
  }

  #shownOf(state: State): readonly Expected[] {
    const [step] = stepsOf(this.#organization, { kind: "get", externalId: "" }, state, NOT_BEGUN, "");
    return step!.progress.shown;
  }
  #readBy(id: number, answer: Answer | undefined): readonly Branch[] {
    if (answer === undefined) return this.#branches;
    const isShown = (state: State): boolean => explains("get", this.#shownOf(state), [answer]);
    const seenIn = ({ reads, state }: Branch): readonly State[] => reads.get(id) ?? [state];
    // It may have seen what a call has written that has no response yet.
    const found = this.#reach(undefined, (branch) => seenIn(branch).some(isShown));
    return found.map((branch) => {
      const { state } = branch;
      const isCurrent = state !== undefined && answer.status === 200 && seenIn(branch).every((each) => each === state);
      return isCurrent ? { ...branch, state: bind(state, answer) } : branch;
    });
  }

  #writtenBy({ id, operation }: Open, answers: readonly Answer[] | undefined): readonly Branch[] {
    if (answers === undefined) return this.#reach(id, () => true);
    const found = this.#reach(id, ({ progress }) => {
      const { isOver, shown } = progress.get(id) ?? NOT_BEGUN;
      return isOver && explains(operation.kind, shown, answers);
    });
    return found.map((branch) => {
      const shown = branch.progress.get(id)?.shown.at(-1)?.item;
      const isCurrent = shown !== undefined && shown === branch.state && operation.kind !== "patch";
      return isCurrent ? { ...branch, state: bind(branch.state, answers.at(-1)!) } : branch;
    });
  }

  /** The steps that an open operation can take in a branch. */
  #stepsIn({ state, progress }: Branch, { id, operation, now, isLate }: Open): readonly Step[] {
    const own = progress.get(id) ?? NOT_BEGUN;
    if (own.isOver || operation.kind === "get") return [];
    const steps = stepsOf(this.#organization, operation, state, own, now);
    const { changed = [] } = own;
    // It writes a record only if it is as it was.
    return isLate
      ? steps.filter((step) => !recordsIn(state, step.state).some((name) => changed.includes(name)))
      : steps;
  }

  /** The branch after a step. What is frozen remembers the records that were changed since. */
  #after(branch: Branch, by: number, { state, progress }: Step): Branch {
    const next = new Map([...branch.progress, [by, progress]]);
    if (state === branch.state) return { ...branch, progress: next };
    for (const { id, frozenBefore } of this.#open.values()) {
      if (frozenBefore > by) continue;
      const own = next.get(id) ?? NOT_BEGUN;
      const changed = new Set([...(own.changed ?? []), ...recordsIn(branch.state, state)]);
      next.set(id, { ...own, changed: [...changed].toSorted() });
    }
    const reads = [...branch.reads].map(([id, states]) => [id, [...states, state]] as const);
    return { state, progress: next, reads: new Map(reads) };
  }

  /**
   * The branches that can be reached by steps of open operations.
   * @param last the operation that takes the last step; if undefined, all steps are those of others, and none is taken
   * after what is wanted
   */
  #reach(last: number | undefined, isWanted: (branch: Branch) => boolean): Branch[] {
    const found = new Map<string, Branch>();
    /** With how many steps of others each was reached. */
    const visited = new Map<string, number>();
    const waiting: { readonly branch: Branch; readonly others: number }[] = [];
    const visit = (branch: Branch, by: number | undefined, others: number): void => {
      const key = keyOf(branch);
      const isFound = (by === last || last === undefined) && isWanted(branch);
      if (isFound) found.set(key, branch);
      if ((isFound && last === undefined) || (visited.get(key) ?? Infinity) <= others) return;
      visited.set(key, others);
      waiting.push({ branch, others });
      if (visited.size > BRANCHES_MAX) throw new TooManyWaysError();
    };
    for (const branch of this.#branches) visit(branch, last, 0);
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { branch, others } = next;
      if (last !== undefined && branch.progress.get(last)?.isOver === true) continue;
      for (const open of this.#open.values()) {
        const isOther = open.id !== last;
        if (isOther && others >= this.#others) continue;
        for (const step of this.#stepsIn(branch, open)) {
          const after = this.#after(branch, open.id, step);
          visit(after, open.id, others + (isOther ? 1 : 0));
          // What is erased doesn't show who wrote it: a call that is under way may then happen once more.
          if (open.operation.kind !== "erase") continue;
          const again = { ...after, progress: new Map([[open.id, step.progress]]) };
          visit(again, open.id, others + (isOther ? 1 : 0));
        }
      }
    }
    return [...found.values()];
  }

  #kindOf({ kind }: Operation, answers: readonly Answer[] = []): FindingKind {
    if (kind !== "get") return "wrong";
    const versions = this.states.map((state) => state?.version);
    const { version, status } = answers[0]!;
    if (version !== undefined && versions.every((known) => known !== undefined && version > known)) return "doubled";
    if (status !== 200) return "lost";
    return versions.every((known) => known !== undefined && version !== undefined && version < known)
      ? "undone"
      : "lost";
  }
}

/**
 * Everything that one item can be, whatever has become of the calls that had no response. Operations happen step by step
 * between their beginning and their response; one without a response may have happened, and in part, or may still happen
 * until its function has ended. A response that no order of steps explains is a contradiction (Herlihy and Wing,
 * "Linearizability", 1990; the orders are searched when a response comes, as Lowe does, "Testing for linearizability", 2017).
 */
export class ItemHistory {
  readonly #organization: string;
  readonly #events: Event[] = [];
  #depth = 0;
  /** Undefined after a contradiction, when everything would be one, or if there are too many ways. */
  #ways: Ways | undefined;
  #next = 0;

  constructor(organization: string) {
    this.#organization = organization;
    this.#ways = new Ways(organization, OTHERS[0]);
  }

  /** What the item can be; nothing if it isn't followed any further. */
  get states(): readonly State[] {
    return this.#ways?.states ?? [];
  }
  /** Whether no operation may still happen. */
  get isSettled(): boolean {
    return this.#ways?.isSettled ?? false;
  }
  get isFollowed(): boolean {
    return this.#ways !== undefined;
  }

  /** @returns the operation's number */
  begin(operation: Operation, now: Time): number {
    const id = this.#next++;
    this.#add({ id, kind: "begins", operation, now });
    return id;
  }
  /** The function of an operation is frozen, and may continue. */
  freeze(id: number): void {
    this.#add({ id, kind: "freezes", before: this.#next });
  }
  /** It continues in time. */
  thaw(id: number): void {
    this.#add({ id, kind: "continues" });
  }
  /** It continues when its time is over. */
  beLate(id: number): void {
    this.#add({ id, kind: "is late" });
  }
  /** @param answers undefined if it has ended without a response @returns how they contradict what can have happened */
  end(id: number, now: Time, answers?: readonly Answer[]): Contradiction | undefined {
    return this.#add({ id, kind: "ends", now, answers });
  }
  /** The organization was erased: nothing is there, and nothing continues. */
  erase(): void {
    this.#events.length = 0;
    this.#depth = 0;
    this.#ways = new Ways(this.#organization, OTHERS[0]);
  }

  #add(event: Event): Contradiction | undefined {
    if (this.#ways === undefined) return undefined;
    this.#events.push(event);
    try {
      let contradiction = this.#ways.add(event);
      // What looked unlikely must have happened: all is explained once more.
      while (contradiction !== undefined && this.#depth + 1 < OTHERS.length) {
        this.#depth += 1;
        const again = new Ways(this.#organization, OTHERS[this.#depth]!);
        contradiction = this.#events
          .values()
          .map((each) => again.add(each))
          .find((found) => found !== undefined);
        this.#ways = again;
      }
      if (contradiction !== undefined) this.#ways = undefined;
      return contradiction;
    } catch (error) {
      if (!(error instanceof TooManyWaysError)) throw error;
      this.#ways = undefined;
      return undefined;
    }
  }
}
