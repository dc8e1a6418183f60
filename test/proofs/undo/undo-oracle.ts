import { parseJson } from "../../../lib/json.ts";
import type { WorkItem, WorkItemEvent } from "../../../lib/work-items/work-item.ts";

export type Item = WorkItem;
export type Event = WorkItemEvent & { readonly deleted_at: string | null };

/** What a record holds, by unit: its existence under `D`, its fields, and its custom attributes one by one. */
export type Units = Readonly<Record<string, string | undefined>>;

const NOT_UNDONE = new Set(["external_id", "created_at", "updated_at", "deleted_at", "custom_attributes"]);
/** The existence of a record, and that an import has used an item for one of its events. */
const IS_NO_FIELD = new Set(["D", "_"]);

export function unitsOf(record: Item | Event | undefined, initial: Item | Event): Units {
  const units: Record<string, string | undefined> = {
    D: record === undefined ? "absent" : record.deleted_at === null ? "live" : "deleted",
  };
  const shown = record ?? initial;
  for (const [name, value] of Object.entries(shown)) if (!NOT_UNDONE.has(name)) units[name] = JSON.stringify(value);
  if ("custom_attributes" in shown) {
    for (const [name, value] of Object.entries(parseJson(shown.custom_attributes) as object)) {
      units[`custom_attributes.${name}`] = JSON.stringify(value);
    }
  }
  return units;
}

export const sameUnits = (a: Units, b: Units): boolean =>
  [...Object.keys(a), ...Object.keys(b)].every((unit) => a[unit] === b[unit]);

/** A writer that is an import. All others are people, evaluations and deletions. */
const isJob = (writer: string): boolean => writer.startsWith("J");

/** What one writer, or several writes of it in sequence, made of a unit. */
interface Write {
  by: string;
  value: string | undefined;
  /** Number of its last write, and of its first. */
  at: number;
  since: number;
  /** Whether it was another import's, which was undone. */
  passed?: boolean;
}

/**
 * What the undo of an import must leave in a record, and which fields it must name. Of a record that it made or restored and
 * that others use, it may name more of those that they changed.
 */
export interface Demand {
  readonly units: Units;
  readonly names: ReadonlySet<string>;
  readonly others: ReadonlySet<string>;
}

/**
 * Knows every write that ever took effect: for each unit of each record a stack of writes. From it follows what an undo must
 * leave. It knows nothing of layers.
 */
export class Oracle {
  readonly #stacks = new Map<string, Map<string, Write[]>>();
  /** Imports whose changes of a record can still be undone, and until when others were created. */
  readonly #known = new Map<string, { readonly jobs: Set<string>; droppedUntil: number }>();
  /** Records that an import made or restored and others then used, with the import. */
  readonly #adopted = new Set<string>();
  #clock = 0;

  knownIn(key: string) {
    let known = this.#known.get(key);
    if (!known) this.#known.set(key, (known = { jobs: new Set(), droppedUntil: 0 }));
    return known;
  }

  /** Who an import is in a record: itself, or, if what it changed there isn't known any more, like anyone else. */
  nameOf(job: string, createdAt: number, key: string): string {
    const { jobs, droppedUntil } = this.knownIn(key);
    return jobs.has(job) || createdAt > droppedUntil ? job : `forgotten ${job}`;
  }

  /** A record has dropped the layers of a job. */
  drop(key: string, job: string, createdAt: number): void {
    const known = this.knownIn(key);
    known.jobs.delete(job);
    known.droppedUntil = Math.max(known.droppedUntil, createdAt);
    for (const write of this.#writesOf(key)) {
      if (write.by === job) write.by = "dropped";
    }
  }

  /** Someone other than an import uses a record: what made or restored it is theirs. */
  adopt(key: string): void {
    const existence = this.#stackOf(key, "D");
    const top = existence.at(-1);
    if (!top || !isJob(top.by)) return;
    const job = top.by;
    if (existence.at(-2)?.value !== "absent") top.by = "adopted";
    else for (const write of this.#writesOf(key)) if (write.by === job) write.by = "adopted";
    this.#adopted.add(`${key} ${job}`);
  }

  /** An import uses an item for one of its events. */
  touch(key: string, job: string): void {
    this.#clock += 1;
    this.#stackOf(key, "_", undefined).push({ by: job, value: undefined, at: this.#clock, since: this.#clock });
    this.knownIn(key).jobs.add(job);
  }

  /** A write took effect. */
  observe(key: string, by: string, before: Units, next: Units): void {
    if (sameUnits(before, next)) return;
    if (isJob(by)) this.knownIn(key).jobs.add(by);
    else if (by !== "score" && by !== "deletion") this.adopt(key);
    for (const unit of new Set([...Object.keys(before), ...Object.keys(next)])) {
      if (before[unit] === next[unit]) continue;
      this.#clock += 1;
      const stack = this.#stackOf(key, unit, before[unit]);
      const top = stack.at(-1)!;
      if (top.by === by) Object.assign(top, { value: next[unit], at: this.#clock });
      else stack.push({ by, value: next[unit], at: this.#clock, since: this.#clock });
    }
  }

  /** Takes the writes of a job out of a record's stacks. @returns what the undo must leave */
  undo(key: string, job: string, current: Units, events: readonly string[]): Demand {
    const stacks = this.#stacksOf(key);
    const existence = stacks.get("D") ?? [];
    const own = existence.at(-1)?.by === job ? existence.at(-1) : undefined;
    const isMade = own !== undefined && existence.at(-2)?.value === "absent";
    const others = (record: string): Write[] =>
      [...this.#stacksOf(record)]
        .flatMap(([unit, stack]) => (unit === "qa_score" ? [] : stack))
        .filter((write) => isJob(write.by) && write.by !== job && write.at > own!.since)
        .toSorted((a, b) => a.since - b.since);
    const users = own
      ? [...others(key), ...events.flatMap((event) => others(event).filter(({ passed }) => !passed))]
      : [];

    const names = new Set<string>();
    const changedByOthers = new Set<string>();
    for (const [unit, stack] of stacks) {
      const isOthers = stack.slice(1).some(({ by }) => by !== job && by !== "adopted");
      if (isOthers && (users.length > 0 || this.#adopted.has(`${key} ${job}`))) changedByOthers.add(unit);
      const isMine = stack.some(({ by }) => by === job);
      // A record that it made and that stays is named as a whole.
      const isWhole = isMade && users.length > 0;
      if (!IS_NO_FIELD.has(unit) && isMine && !isWhole && stack.at(-1)?.by !== job) names.add(unit);
    }

    const units = { ...current };
    for (const [unit, stack] of stacks) {
      if (!stack.some(({ by }) => by === job)) continue;
      if (users.length > 0 && (isMade || unit === "D")) {
        for (const write of stack) if (write.by === job) Object.assign(write, { by: users[0]!.by, passed: true });
        continue;
      }
      const left = stack.filter(({ by }) => by !== job);
      for (let index = left.length - 1; index > 0; index--) {
        if (left[index]!.by !== left[index - 1]!.by) continue;
        left[index - 1] = { ...left[index]!, since: left[index - 1]!.since };
        left.splice(index, 1);
      }
      stacks.set(unit, left);
      if (unit !== "_") units[unit] = left.at(-1)?.value;
    }
    if (isMade && users.length === 0) units["D"] = "deleted";
    this.knownIn(key).jobs.delete(job);
    return { units, names, others: changedByOthers };
  }

  /** Whether a unit of an item was last changed by a deletion. */
  isDeletedByPerson(key: string): boolean {
    return this.#stacksOf(key).get("D")?.at(-1)?.by === "deletion";
  }

  /** Whether any value of a job counts still. */
  holds(job: string): boolean {
    return [...this.#stacks.keys()].some((key) => this.#writesOf(key).some(({ by }) => by === job));
  }

  #stacksOf(key: string): Map<string, Write[]> {
    let stacks = this.#stacks.get(key);
    if (!stacks) this.#stacks.set(key, (stacks = new Map()));
    return stacks;
  }

  #stackOf(key: string, unit: string, base?: string): Write[] {
    const stacks = this.#stacksOf(key);
    let stack = stacks.get(unit);
    if (!stack) stacks.set(unit, (stack = [{ by: "before", value: base, at: 0, since: 0 }]));
    return stack;
  }

  #writesOf(key: string): Write[] {
    return [...this.#stacksOf(key).values()].flat();
  }
}
