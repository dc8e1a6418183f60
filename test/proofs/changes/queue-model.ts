import { randomFrom } from "../../support/random.ts";
import { TimedTasks } from "../../support/timed-tasks.ts";

/** What keeps a change from being lost on the way from the stream to the log. */
export const RULES = {
  sendFirst: "records are acknowledged only when the queue has them",
  deduplication: "the deduplication id names the message's last record, and not its content",
  held: "changes that can't be appended wait, and become a hole before SQS drops them",
  chain: "appending is one conditional put after the newest segment",
  heartbeats: "a heartbeat is noted only when all records before it are in the queue",
  age: "a heartbeat that comes more than 23 hours after the last one of its key makes a hole due",
} as const;
export type Rule = keyof typeof RULES;

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ITEMS = 8;
const BATCH_MAX = 60;
const HEARTBEAT_KEYS = 16;
/** Longer than anything lasts that keeps heartbeats away. */
const CALM = 63 * HOUR;

interface StreamRecord {
  readonly event: number;
  readonly at: number;
  readonly organization?: Organization;
  readonly item?: number;
  readonly heartbeat?: number;
}
interface Shard {
  readonly records: StreamRecord[];
  readonly stalled: readonly [from: number, until: number];
}
interface Message {
  readonly items: readonly number[];
  readonly writtenAt: number;
}
interface Segment {
  readonly first: number;
  readonly next: number;
  readonly items: readonly number[];
  readonly at: number;
}
interface Organization {
  readonly id: number;
  /** When each item was written last. */
  readonly written: Map<number, number>;
  readonly log: Segment[];
  group: Message[];
  held: Message[];
  readonly sent: Map<string, number>;
  readonly broken: readonly [from: number, until: number];
  isTaken: boolean;
  isHoleDue: boolean;
  /** When the last hole was put; everything before it is read again. */
  holeAt: number;
}

/**
 * Simulates writers, a stream with several shards, a FIFO queue with a group for each organization, and appenders; time is
 * in seconds. Whoever works may die at each step, appenders also outlive their time; logs can't be appended to for a
 * while, shards stall for up to 30 hours, and SQS is out for up to 60.
 * @param without a rule that is broken
 * @returns what was lost or given twice; `faults` counts deaths, refusals and trimmed records
 */
export function simulate(seed: number, without?: Rule) {
  const random = randomFrom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const holds = (rule: Rule): boolean => rule !== without;
  const end = [2 * HOUR, 4 * HOUR, 40 * HOUR][below(3)]!;
  const wrong: string[] = [];
  let [now, serial, faults] = [0, 0, 0];
  const tasks = new TimedTasks();
  const after = (seconds: number, run: () => void): void => tasks.add(now + seconds, run);
  const fails = (share = 0.03): boolean => {
    const isFault = now < end && random() < share;
    if (isFault) faults += 1;
    return isFault;
  };
  const spell = (share: number, length: number): readonly [number, number] => {
    if (random() > share) return [Infinity, Infinity];
    const from = random() * end * 0.5;
    return [from, from + random() * length];
  };
  const isIn = ([from, until]: readonly [number, number]): boolean => now >= from && now < until;

  const organizations: Organization[] = Array.from({ length: 3 }, (_, id) => ({
    id,
    written: new Map(),
    log: [],
    group: [],
    held: [],
    sent: new Map(),
    broken: spell(0.3, [HOUR, 3 * HOUR, 16 * DAY][below(3)]!),
    isTaken: false,
    isHoleDue: false,
    holeAt: -1,
  }));
  const shards: Shard[] = Array.from({ length: 2 + below(7) }, () => ({ records: [], stalled: spell(0.2, 30 * HOUR) }));
  /** SQS takes nothing. */
  const outage = spell(0.3, 60 * HOUR);
  const noted = new Map<number, number>(Array.from({ length: HEARTBEAT_KEYS }, (_, key) => [key, 0]));
  const put = (key: number, record: Omit<StreamRecord, "event" | "at">): void => {
    shards[key % shards.length]!.records.push({ ...record, event: ++serial, at: now });
  };

  const write = (): void => {
    const organization = organizations[below(organizations.length)]!;
    const item = below(ITEMS);
    organization.written.set(item, now);
    put(organization.id * 7 + item, { organization, item });
    if (now < end) after(random() * [2, 30, end / 60][below(3)]!, write);
  };
  const beat = (): void => {
    for (let key = 0; key < HEARTBEAT_KEYS; key++) put(key, { heartbeat: key });
    if (now < end + CALM) after(10 * MINUTE, beat);
  };

  /** Appends after the newest segment that this appender has seen; a second one that has seen the same must ask again. */
  const append = (organization: Organization, seen: number, items: readonly number[]): boolean => {
    const newest = organization.log.at(-1)?.next ?? 0;
    if (holds("chain") && seen !== newest) return false;
    if (seen < newest) wrong.push(`organization ${organization.id}: numbers are given twice`);
    organization.log.push({ first: seen, next: seen + items.length, items, at: now });
    return true;
  };
  const newestOf = ({ log }: Organization): number => log.at(-1)?.next ?? 0;

  const enqueue = (organization: Organization, records: readonly StreamRecord[]): void => {
    const items = records.map(({ item }) => item!);
    const id = holds("deduplication") ? String(records.at(-1)!.event) : items.join();
    const before = organization.sent.get(id);
    if (before !== undefined && now - before < 5 * MINUTE) return;
    organization.sent.set(id, now);
    organization.group.push({ items, writtenAt: records[0]!.at });
    after(random(), () => take(organization));
  };
  const noteHeartbeats = (batch: readonly StreamRecord[]): void => {
    for (const { heartbeat, at } of batch) {
      if (heartbeat === undefined) continue;
      if (holds("age") && now - noted.get(heartbeat)! > 23 * HOUR)
        organizations.forEach((each) => (each.isHoleDue = true));
      noted.set(heartbeat, Math.max(noted.get(heartbeat)!, at));
    }
  };
  /** One batch of a shard at a time; one that fails comes again. */
  const poll = (shard: Shard): void => {
    const again = (seconds: number): void => after(seconds, () => poll(shard));
    while (shard.records[0] !== undefined && now - shard.records[0].at > DAY) {
      if (shard.records.shift()!.organization !== undefined) faults += 1;
    }
    if (isIn(shard.stalled)) return again(30);
    const batch = shard.records.slice(0, 1 + below(BATCH_MAX));
    if (batch.length === 0) return again(now > end + HOUR ? 200 : 10);
    const done = (): void => {
      const last = batch.at(-1)!.event;
      while (shard.records[0] !== undefined && shard.records[0].event <= last) shard.records.shift();
    };
    if (!holds("heartbeats")) noteHeartbeats(batch);
    if (!holds("sendFirst")) done();
    for (const own of Map.groupBy(batch, ({ organization }) => organization).entries()) {
      const [organization, records] = own;
      if (organization === undefined) continue;
      if (isIn(outage) || fails()) return again(1 + random() * [5, 400][below(2)]!);
      enqueue(organization, records);
      if (fails()) return again(1 + random() * [5, 400][below(2)]!);
    }
    if (holds("heartbeats")) noteHeartbeats(batch);
    if (fails()) return again(5);
    done();
    return again(1);
  };

  /** The appender: of each organization one batch at a time, until its visibility timeout. */
  const take = (organization: Organization): void => {
    if (organization.isTaken || organization.group.length === 0) return;
    organization.isTaken = true;
    const batch = organization.group.slice(0, 1 + below(10));
    const leave = (): void => void (organization.group = organization.group.filter((each) => !batch.includes(each)));
    const free = (seconds: number): void =>
      after(seconds, () => {
        organization.isTaken = false;
        take(organization);
      });
    if (isIn(organization.broken)) {
      if (holds("held")) organization.held.push(...batch);
      leave();
      return free(fails() ? 180 : 15);
    }
    const seen = newestOf(organization);
    const items = batch.flatMap((message) => message.items);
    // It is frozen, and appends while another has its messages.
    if (fails(0.01)) {
      after(30 + random() * 300, () => void append(organization, seen, items));
      return free(180);
    }
    if (fails()) return free(180);
    return after(random() * 2, () => {
      if (!append(organization, seen, items)) return free(1);
      if (fails()) return free(180);
      leave();
      return free(0.2);
    });
  };
  /** Tries what is held, and puts the holes that are due. */
  const sweep = (): void => {
    for (const organization of organizations) {
      const old = organization.held.filter(({ writtenAt }) => now - writtenAt > 13 * DAY);
      if (old.length > 0) organization.isHoleDue = true;
      organization.held = organization.held.filter((each) => !old.includes(each));
      if (isIn(organization.broken)) continue;
      const [message] = organization.held;
      if (message !== undefined && append(organization, newestOf(organization), message.items) && !fails()) {
        organization.held.shift();
      }
      if (organization.isHoleDue) [organization.holeAt, organization.isHoleDue] = [now, false];
    }
    if (now < end + 20 * DAY) after(now > end + HOUR ? 20 * MINUTE : MINUTE, sweep);
  };
  const isQuiet = (): boolean =>
    shards.every(({ records }) => records.every(({ organization }) => organization === undefined)) &&
    organizations.every(({ group, held, isHoleDue }) => group.length + held.length === 0 && !isHoleDue);

  after(0, write);
  after(0, write);
  after(1, beat);
  after(5, sweep);
  for (const shard of shards) after(random(), () => poll(shard));
  while (!tasks.isEmpty && !(now > end + CALM + HOUR && isQuiet())) {
    const task = tasks.take()!;
    now = Math.max(now, task.at);
    task.run();
    if (now > end + 21 * DAY) break;
  }

  for (const { id, written, log, holeAt } of organizations) {
    for (const [item, at] of written) {
      // A reader gets the item as it is: any entry or hole after its last write will do.
      const isLogged = holeAt >= at || log.some((segment) => segment.at >= at && segment.items.includes(item));
      if (!isLogged) wrong.push(`organization ${id}: the last change of item ${item} is lost`);
    }
  }
  return { faults, wrong };
}
