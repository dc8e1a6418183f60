import { planApply, planEvent } from "../../../lib/work-items/plan-apply.ts";
import {
  afterImport,
  afterWrite,
  beforeEvent,
  type Import,
  storedLayersSchema,
  toStoredLayers,
  type UndoLayers,
  undoLayersOf,
} from "../../../lib/work-items/undo/layers.ts";
import { planUndo, type UndoPlan } from "../../../lib/work-items/undo/plan-undo.ts";
import type { Changes } from "../../../lib/work-items/work-item.ts";
import { randomFrom } from "../../support/random.ts";
import { type Event, type Item, Oracle, sameUnits, type Units, unitsOf } from "./undo-oracle.ts";

const ITEMS = ["i", "j"];
const EVENTS = ["e", "d"];
const NOW = "2026-12-01T00:00:00.000Z";
const TIMES = [null, "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"] as const;
const LATER = Date.parse(NOW);
const NEW_ITEM = (planApply(null, "x", {}, NOW) as { readonly next: Item }).next;
const NEW_EVENT: Event = { ...planEvent(null, [{ external_id: "x" }], NOW).next, deleted_at: null };
const isEvent = (key: string): boolean => key.includes("/");

interface Stored<T extends Item | Event = Item | Event> {
  readonly version: number;
  readonly fields: T | undefined;
  /** As the table has it. */
  readonly undo: string | null;
  /** Rows that each job has applied, and whether it was undone. */
  readonly marks: Readonly<Record<string, readonly number[]>>;
}
interface Row {
  readonly row: number;
  readonly item: string;
  readonly set: Changes;
  readonly event: readonly [string, string] | undefined;
}
interface Job extends Import {
  readonly chunks: readonly (readonly Row[])[];
  next: number;
  isStarted: boolean;
  stop: boolean;
  isEnded: boolean;
  /** The items of its undo, once that has begun. */
  undoes: readonly string[] | undefined;
  isUndone: boolean;
}
/** Where a writer or worker may be overtaken, or die. */
type Steps = Generator<undefined, void>;
interface Actor {
  readonly steps: Steps;
  readonly job?: Job;
  readonly isUndo?: boolean;
}

/**
 * Simulates imports, people, evaluations and undos that write two items with two events each, all at the same time. Workers die,
 * run twice and are stopped. The oracle says of each write of an undo what it must leave.
 * @returns what went wrong, how many writes undos made, and how many workers died
 */
export function simulate(seed: number) {
  const random = randomFrom(seed * 2_654_435_761);
  const below = (count: number): number => Math.floor(random() * count);
  const chance = (share: number): boolean => random() < share;
  const pick = <T>(values: readonly T[]): T => values[below(values.length)]!;
  const wrong = new Set<string>();
  let [deaths, undone, dropped, people] = [0, 0, 0, 0];
  const oracle = new Oracle();
  const table = new Map<string, Stored>();
  /** In some runs values are so large that layers are dropped for it. */
  const padding = chance(0.03) ? "x".repeat(35_000) : "";

  const get = <T extends Item | Event>(key: string): Stored<T> =>
    (table.get(key) ?? { version: 0, fields: undefined, undo: null, marks: {} }) as Stored<T>;
  const layersOf = ({ undo, fields }: Stored): UndoLayers =>
    undoLayersOf(undo === null ? null : storedLayersSchema.parse(undo), fields ?? NEW_ITEM);
  const units = (key: string, record: Stored): Units => unitsOf(record.fields, isEvent(key) ? NEW_EVENT : NEW_ITEM);
  const isLive = ({ fields }: Stored): boolean => fields?.deleted_at === null;
  const jobs = Array.from({ length: 2 + below(3) }, (_job, index): Job => {
    let row = 0;
    const chunks = Array.from({ length: 1 + below(2) }, () =>
      Array.from({ length: 1 + below(3) }, (): Row => {
        row += 1;
        return {
          row,
          item: pick(ITEMS),
          set: someChanges(0.35),
          event: chance(0.4) ? [pick(EVENTS), String(below(3))] : undefined,
        };
      }),
    );
    return {
      id: `J${index}`,
      createdAt: LATER + index,
      chunks,
      next: 0,
      isStarted: false,
      stop: false,
      isEnded: false,
      undoes: undefined,
      isUndone: false,
    };
  });
  function someChanges(share: number): Changes {
    const attributes = ["a", "b"].filter(() => chance(share)).map((name) => [name, `${below(3)}${padding}`]);
    return {
      ...(chance(share) && { agent_name: pick([null, "1", "2"]) }),
      ...(chance(share) && { type: pick(["work_item", "1", "2"]) }),
      ...(chance(share / 3) && { completed_at: pick(TIMES) }),
      ...(attributes.length > 0 && { custom_attributes: Object.fromEntries(attributes) as Record<string, string> }),
    };
  }

  /** One conditional write. @param plan what is written, based on what was read @returns whether it took effect */
  const write = (
    key: string,
    by: string,
    read: Stored,
    plan: Omit<Stored, "version" | "undo">,
    undo: UndoLayers,
  ): boolean => {
    const current = get(key);
    if (current.version !== read.version) return false;
    const text = toStoredLayers(undo, plan.fields!, LATER);
    const next: Stored = { ...plan, version: current.version + 1, undo: text };
    const [a, b] = [units(key, current), units(key, next)];
    if (by !== "undo") oracle.observe(key, by, a, b);
    table.set(key, next);
    const { jobs: known } = oracle.knownIn(key);
    const left = new Set(layersOf(next).layers.map(({ job }) => job));
    for (const id of by === "undo" ? [] : known) {
      if (left.has(id)) continue;
      if (left.size < 3 && padding === "") wrong.add("layers are dropped without need");
      dropped += 1;
      oracle.drop(key, id, jobs.find((job) => job.id === id)!.createdAt);
    }
    return true;
  };
  const jobName = (job: Job, key: string): string => oracle.nameOf(job.id, job.createdAt, key);

  /** Someone other than an import changes a record. */
  function* change<T extends Item>(by: string, key: string, plan: (fields: T | undefined) => T | undefined): Steps {
    for (;;) {
      const read = get<T>(key);
      yield;
      const fields = plan(read.fields);
      if (fields === undefined || fields === read.fields) return;
      const undo = by === "score" ? layersOf(read) : afterWrite(layersOf(read), read.fields ?? null, fields);
      if (write(key, by, read, { fields, marks: read.marks }, undo)) return;
    }
  }
  const applied = (stored: Item | undefined, input: Changes): Item => {
    const plan = planApply(stored ?? null, "x", input, NOW);
    if (plan.outcome === "error") throw new Error(plan.error.message);
    return plan.next;
  };
  const eventAfter = (stored: Event | undefined, content: string): Event => {
    const plan = planEvent(stored ?? null, [{ external_id: "x", content }], NOW);
    if (plan.outcome === "unchanged" && stored!.deleted_at === null) return stored!;
    return { ...plan.next, deleted_at: null };
  };

  /** Someone other than an import changes an event. */
  function* changeEvent(by: string, itemKey: string, event: string, content: string): Steps {
    const key = `${itemKey}/${event}`;
    for (;;) {
      const item = get(itemKey);
      const read = get<Event>(key);
      yield;
      if (!isLive(item)) return;
      const fields = eventAfter(read.fields, content);
      if (fields === read.fields) return;
      let { version } = item;
      const layers = layersOf(item);
      const touched = beforeEvent(layers);
      if (touched !== layers) {
        if (!write(itemKey, by, item, item, touched)) continue;
        oracle.adopt(itemKey);
        ({ version } = get(itemKey));
        yield;
      }
      if (get(itemKey).version !== version) continue;
      if (!isLive(get(itemKey)) && !oracle.isDeletedByPerson(itemKey))
        wrong.add("an event is written to an item that an undo deleted");
      if (write(key, by, read, { fields, marks: read.marks }, afterWrite(layersOf(read), read.fields ?? null, fields)))
        return;
    }
  }

  const isMarked = ({ marks }: Stored, { id }: Job, row: number): boolean =>
    (marks[id] ?? []).some((each) => each >= row);
  const marked = ({ marks }: Stored, { id }: Job, row: number) => ({ ...marks, [id]: [...(marks[id] ?? []), row] });

  function* applyItem(job: Job, { row, item, set, event }: Row): Steps {
    for (;;) {
      const read = get<Item>(item);
      const own = event && get(`${item}/${event[0]}`);
      yield;
      if (isMarked(read, job, row) || (own && isMarked(own, job, row))) return;
      const fields = applied(read.fields, set);
      if (fields === read.fields) return;
      const undo = afterImport(layersOf(read), read.fields ?? null, fields, job);
      if (write(item, jobName(job, item), read, { fields, marks: marked(read, job, row) }, undo)) return;
    }
  }
  /** @returns whether the item was deleted since, so that the row must be applied to it again */
  function* applyEvent(
    job: Job,
    { row, item }: Row,
    [event, content]: readonly [string, string],
  ): Generator<undefined, boolean> {
    const key = `${item}/${event}`;
    for (;;) {
      const read = get<Event>(key);
      yield;
      if (isMarked(read, job, row)) return false;
      const fields = eventAfter(read.fields, content);
      if (fields === read.fields) return false;
      let owner = get(item);
      yield;
      if (!isLive(owner) && !isMarked(owner, job, row)) return true;
      const layers = layersOf(owner);
      const touched = beforeEvent(layers, job);
      if (touched !== layers) {
        const by = jobName(job, item);
        if (!write(item, by, owner, owner, touched)) continue;
        if (by === job.id) oracle.touch(item, job.id);
        else oracle.adopt(item);
        owner = get(item);
        yield;
      }
      if (get(item).version !== owner.version) continue;
      const undo = afterImport(layersOf(read), read.fields ?? null, fields, job);
      if (write(key, jobName(job, key), read, { fields, marks: marked(read, job, row) }, undo)) return false;
    }
  }
  /** A worker of an import. */
  function* work(job: Job): Steps {
    while (!job.isEnded && job.next < job.chunks.length) {
      const chunk = job.next;
      for (const row of job.chunks[chunk]!) {
        do yield* applyItem(job, row);
        while (row.event && (yield* applyEvent(job, row, row.event)));
      }
      yield;
      if (job.next !== chunk || job.isEnded) continue;
      if (job.stop) break;
      job.next += 1;
    }
    job.isEnded = true;
  }

  const keysOf = (item: string): string[] => {
    const events = EVENTS.map((event) => `${item}/${event}`);
    return [...events, item];
  };
  const undoMark = (job: Job): string => `undo of ${job.id}`;
  const planned = (key: string, job: Job) => {
    const read = get(key);
    if (read.fields === undefined || read.marks[undoMark(job)]) return undefined;
    const layers = layersOf(read);
    const plan = planUndo(layers, read.fields, job, NOW);
    return plan.undo === layers ? undefined : { read, plan };
  };
  const check = (key: string, job: Job, before: Stored, plan: UndoPlan<Item | Event>): void => {
    const kind = isEvent(key) ? "event" : "item";
    const liveEvents = isEvent(key)
      ? []
      : EVENTS.map((event) => `${key}/${event}`).filter((event) => isLive(get(event)));
    const was = units(key, before);
    const { units: wanted, names, others } = oracle.undo(key, job.id, was, liveEvents);
    const found = units(key, { ...before, fields: plan.next });
    for (const unit of new Set([...Object.keys(wanted), ...Object.keys(found)])) {
      if (wanted[unit] === found[unit]) continue;
      if (unit === "D")
        wrong.add(
          found["D"] === "live"
            ? `an ${kind} is kept though no one uses it`
            : `an ${kind} is deleted though others use it`,
        );
      else if (wanted[unit] === was[unit]) wrong.add(`someone else's field of an ${kind} is changed`);
      else if (found[unit] === was[unit]) wrong.add(`a field of an ${kind} isn't taken back`);
      else wrong.add(`a field of an ${kind} goes back to a wrong value`);
    }
    const named = new Set([...plan.kept.keys()].filter((name) => name !== "deleted_at"));
    if (names.difference(named).size > 0) wrong.add("a kept field isn't named");
    if (named.difference(names).difference(others).size > 0) wrong.add("a field is named that no one else has changed");
    const isChanged = !sameUnits(was, found);
    const putBack = layersOf(before).layers.some(
      ({ job: id, fields }) => id === job.id && fields["deleted_at"]?.length === 0,
    )
      ? "deleted"
      : "undone";
    const outcome = plan.kept.size > 0 ? (isChanged ? "partly" : "kept") : isChanged ? putBack : "unchanged";
    if (plan.outcome !== outcome) wrong.add("the outcome is wrong");
  };
  /** A worker of an undo. */
  function* undoJob(job: Job): Steps {
    for (const item of job.undoes!) {
      for (const key of keysOf(item)) {
        for (;;) {
          const made = planned(key, job);
          yield;
          if (!made) break;
          const { read, plan } = made;
          const before = get(key);
          const marks = { ...read.marks, [undoMark(job)]: [1] };
          if (!write(key, "undo", read, { fields: plan.next, marks }, plan.undo)) continue;
          check(key, job, before, plan);
          undone += 1;
          break;
        }
      }
    }
    job.isUndone = true;
  }

  for (const item of ITEMS) {
    if (!chance(0.7)) continue;
    const fields: Item = { ...applied(undefined, someChanges(0.6)), deleted_at: chance(0.7) ? null : NOW };
    table.set(item, { version: 1, fields, undo: null, marks: {} });
    if (chance(0.5)) table.set(`${item}/e`, { version: 1, fields: eventAfter(undefined, "0"), undo: null, marks: {} });
  }
  let actors: Actor[] = [];
  const isAtWork = (job: Job, isUndo: boolean): boolean =>
    actors.some((actor) => actor.job === job && Boolean(actor.isUndo) === isUndo);
  /** In some runs people mostly delete items, or write events. */
  const habit = chance(0.2) ? pick([0.5, 0.9]) : undefined;
  const someone = (): Steps => {
    const item = pick(ITEMS);
    people += 1;
    const by = `person ${people}`;
    const action = habit !== undefined && chance(0.8) ? habit : random();
    if (action < 0.4) {
      const input = someChanges(0.25);
      return change<Item>(by, item, (stored) => (stored?.deleted_at === null ? applied(stored, input) : undefined));
    }
    if (action < 0.52) {
      return change<Item>("deletion", item, (stored) =>
        stored?.deleted_at === null ? { ...stored, deleted_at: NOW } : undefined,
      );
    }
    if (action < 0.64) {
      const input = someChanges(0.2);
      const isMaker = chance(0.3);
      return change<Item>(by, item, (stored) => (stored || isMaker ? applied(stored, input) : undefined));
    }
    if (action < 0.74) {
      const score = below(9) / 10;
      return change<Item>("score", item, (stored) =>
        stored?.deleted_at === null ? { ...stored, qa_score: score } : undefined,
      );
    }
    return changeEvent(by, item, pick(EVENTS), String(below(3)));
  };
  const begin = (job: Job): void => {
    actors = actors.filter((actor) => actor.job !== job);
    const rows = job.chunks.slice(0, job.next + 1).flat();
    job.undoes = [...new Set(rows.map(({ item }) => item))];
  };
  const pace = pick([0.02, 0.08, 0.2]);
  for (let step = 0; step < 400; step++) {
    if (chance(pace)) actors.push({ steps: someone() });
    const idle = jobs.find(({ isStarted }) => !isStarted);
    if (idle && chance(0.08)) {
      idle.isStarted = true;
      actors.push({ steps: work(idle), job: idle });
    }
    for (const job of jobs) {
      if (job.isStarted && !job.isEnded) {
        if (chance(0.004)) job.stop = true;
        if (!isAtWork(job, false) || chance(0.02)) actors.push({ steps: work(job), job });
      }
      if (job.isEnded && !job.undoes && chance(0.01)) begin(job);
      if (job.undoes && !job.isUndone && (!isAtWork(job, true) || chance(0.03))) {
        actors.push({ steps: undoJob(job), job, isUndo: true });
      }
    }
    if (actors.length === 0) continue;
    const actor = pick(actors);
    const isDead = actor.job && chance(0.03);
    if (isDead) deaths += 1;
    if (isDead || actor.steps.next().done) actors = actors.filter((each) => each !== actor);
  }
  const rest = (steps: Steps): void => {
    for (let step = 0; step < 500 && !steps.next().done;) step += 1;
  };
  for (const { steps } of actors) rest(steps);
  // No one else writes any more. Now everything is undone, in any order.
  for (const job of jobs.filter(({ isStarted }) => isStarted).toSorted(() => random() - 0.5)) {
    rest(work(job));
    if (!job.undoes) begin(job);
    const dry = job.undoes!.flatMap((item) =>
      keysOf(item).map((key) => [key, JSON.stringify(planned(key, job)?.plan.next ?? get(key).fields)] as const),
    );
    rest(undoJob(job));
    rest(undoJob(job));
    for (const [key, fields] of dry) {
      if (JSON.stringify(get(key).fields) !== fields) wrong.add("an undo does something else than its dry run");
    }
  }
  if (jobs.some(({ id, isUndone }) => isUndone && oracle.holds(id)))
    wrong.add("an import's value remains after its undo");
  return { wrong: [...wrong], deaths, undone, dropped };
}
