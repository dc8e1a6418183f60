import { randomFrom } from "../../support/random.ts";
import { TimedTasks } from "../../support/timed-tasks.ts";

/** What keeps an import exact, whatever its workers and messages suffer. */
export const RULES = {
  publish: "one write publishes a job, unless it was published or stopped",
  cut: "the same file gives the same chunks",
  claim: "every change of a bucket compares the claim",
  next: "a bucket is claimed only if its next chunk is the one that was read",
  marks: "items remember the rows that a job has applied to them",
  live: "marks go only when a consistent read says that their job has ended",
  clock: "no item is written after the end of the claim that the worker has set itself",
  close: "rows that were applied and not counted are found by their marks before the totals are frozen",
  lines: "the lines of rows are named by the claim that counts them",
  refused: "refusals for a day end a job",
  alive: "a worker that the store refuses is not taken for dead",
  erased: "an erasure's last pass comes after the longest run that may have read the organization before",
} as const;
export type Rule = keyof typeof RULES;

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The longest that a worker of rows runs, and one that reads a large file. */
const APPLY_MAX = 2 * MINUTE;
const SPLIT_MAX = 15 * MINUTE;
const CLAIM = 40;
const CLAIM_MARGIN = 20;
const ATTEMPTS_MAX = 6;
const ITEMS = 5;
const END = 80 * HOUR;

type Outcome = "created" | "updated" | "unchanged";
interface Mark {
  readonly row: number;
  readonly outcome: Outcome;
}
interface Item {
  readonly version: number;
  readonly value?: number;
  readonly marks: ReadonlyMap<string, readonly Mark[]>;
}
interface Row {
  readonly row: number;
  readonly item: number;
  readonly value: number;
}
interface Bucket {
  readonly chunks: number;
  next: number;
  after: number;
  claim: number;
  busyUntil: number;
  attempts: number;
  refusedSince: number;
  resent: number;
  movedAt: number;
  stop: boolean;
  closed: boolean;
  counts: ReadonlyMap<Outcome, number>;
  lines: readonly string[];
}
interface Job {
  readonly id: string;
  readonly rows: readonly Row[];
  /** A row whose worker dies, or that the store always refuses; 0 if there is none. */
  readonly deadly: number;
  readonly refused: number;
  published: boolean;
  buckets: Bucket[];
  splits: number;
  splitBusyUntil: number;
  stopping: "failed" | "cancelled" | undefined;
  status: "open" | "completed" | "failed" | "cancelled";
  /** When it ended, counted by outcome. */
  totals: ReadonlyMap<Outcome, number> | undefined;
  endedAt: number;
  /** What was written, by row: the truth that the counters must equal. */
  readonly written: Map<number, Outcome>;
  highest: number;
}
interface Message {
  readonly job: Job;
  readonly bucket?: number;
  readonly chunk?: number;
  receives: number;
}

const NO_ITEM: Item = { version: 0, marks: new Map() };
const sumOf = (counts: ReadonlyMap<Outcome, number>): number =>
  [...counts.values()].reduce((sum, each) => sum + each, 0);
const added = (counts: ReadonlyMap<Outcome, number>, outcomes: readonly Outcome[]): ReadonlyMap<Outcome, number> => {
  const sums = new Map(counts);
  for (const outcome of outcomes) sums.set(outcome, (sums.get(outcome) ?? 0) + 1);
  return sums;
};
const shown = (counts: ReadonlyMap<Outcome, number>): string =>
  JSON.stringify([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Where a worker may die or freeze; the number is how long it takes at most. */
type Work = Generator<number, void>;

/**
 * Simulates two jobs of one organization whose messages are lost, doubled and late, and whose workers die and freeze between any
 * two steps, while a caller changes the items and sometimes cancels a job or erases the organization. Time is in seconds.
 * @param without a rule that is broken
 * @returns what went wrong, and how many faults there were
 */
export function simulate(seed: number, without?: Rule) {
  const random = randomFrom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const holds = (rule: Rule): boolean => rule !== without;
  const wrong = new Set<string>();
  let [now, faults] = [0, 0];
  const tasks = new TimedTasks();
  const after = (seconds: number, run: () => void): void => tasks.add(now + seconds, run);
  const calm = 3 * HOUR + below(HOUR);
  /** In some runs nobody dies or freezes: then every job that can be applied completes. */
  const deaths = [0, 0.002, 0.006, 0.02][below(4)]!;
  const fails = (share: number): boolean => {
    const isFault = deaths > 0 && now < calm && random() < share;
    if (isFault) faults += 1;
    return isFault;
  };
  /** In some runs the clocks of workers are an hour apart. */
  const isSkewed = random() < 0.2;
  const outageFrom = random() < 0.15 ? below(300) : Infinity;
  const outage = [outageFrom, outageFrom + below([300, 6 * HOUR, 20 * HOUR][below(3)]!)] as const;
  const isOut = (): boolean => now > outage[0] && now < outage[1];

  const organization = { isErasing: false, isErased: false };
  const items = new Map<number, Item>();
  const objects = new Map<string, readonly (Row | Mark)[]>();
  const jobs = Array.from({ length: 2 }, (_, index): Job => {
    const rows = Array.from({ length: 4 + below(14) }, (_row, at) => ({
      row: at + 2,
      item: below(ITEMS),
      value: below(3),
    }));
    return {
      id: `job-${index}`,
      rows,
      deadly: random() < 0.06 ? rows[below(rows.length)]!.row : 0,
      refused: random() < 0.04 ? rows[below(rows.length)]!.row : 0,
      published: false,
      buckets: [],
      splits: 0,
      splitBusyUntil: 0,
      stopping: undefined,
      status: "open",
      totals: undefined,
      endedAt: Infinity,
      written: new Map(),
      highest: 0,
    };
  });
  /** As far as the index of open jobs shows: it lags by up to ten minutes. */
  const looksOpen = (job: Job): boolean => now - below(10 * MINUTE) < job.endedAt;

  /** Runs work step by step. @param lost called if its worker dies, freezes past its time, or isn't known to have ended */
  const work = (steps: Work, lifetime: number, lost: () => void): void => {
    const until = now + lifetime;
    const step = (): void => {
      if (now > until || fails(deaths)) return lost();
      const { done, value } = steps.next();
      if (done === true) {
        if (fails(0.03)) lost();
        return;
      }
      after(fails(0.03) ? random() * 1.2 * lifetime : random() * value, step);
    };
    step();
  };
  const send = (job: Job, message: { bucket?: number; chunk?: number } = {}, delay = 0): void => {
    for (let copies = fails(0.1) ? 2 : 1; copies > 0; copies--) {
      if (!fails(0.06))
        after(delay + random() * 5 + (fails(0.03) ? random() * 3 * HOUR : 0), () =>
          deliver({ job, ...message, receives: 0 }),
        );
    }
  };
  const deliver = (message: Message): void => {
    const lost = (): void => {
      if (++message.receives < 5) after(12 * MINUTE, () => deliver(message));
    };
    if (message.bucket === undefined) work(split(message.job), SPLIT_MAX, lost);
    else work(apply(message.job, message.bucket, message.chunk!), APPLY_MAX, lost);
  };
  const stop = (job: Job, status: "failed" | "cancelled"): void => {
    if (job.status === "open") job.stopping ??= status;
  };

  const chunkKey = (job: Job, bucket: number, chunk: number): string => `${job.id}/chunks/${bucket}-${chunk}`;
  function* split(job: Job): Work {
    if (job.status !== "open" || job.published || job.stopping || job.splitBusyUntil > now) return;
    job.splits += 1;
    job.splitBusyUntil = now + CLAIM;
    if (job.splits > ATTEMPTS_MAX) {
      stop(job, "failed");
      return;
    }
    const counts: number[] = [];
    for (let bucket = 0; bucket < 2; bucket++) {
      const own = job.rows.filter(({ item }) => item % 2 === bucket);
      let chunk = 0;
      for (let from = 0; from < own.length; chunk++) {
        const size = holds("cut") ? 3 : 1 + below(4);
        yield 20;
        if (organization.isErasing) return;
        yield 1;
        objects.set(chunkKey(job, bucket, chunk), own.slice(from, from + size));
        job.splitBusyUntil = now + CLAIM;
        from += size;
      }
      counts.push(chunk);
    }
    yield 1;
    if (holds("publish") && (job.published || job.stopping || job.status !== "open")) return;
    job.published = true;
    job.buckets = counts.map((chunks) => ({
      chunks,
      next: 0,
      after: 0,
      claim: 0,
      busyUntil: 0,
      attempts: 0,
      refusedSince: 0,
      resent: 0,
      movedAt: now,
      stop: false,
      closed: false,
      counts: new Map(),
      lines: [],
    }));
    yield 1;
    for (const [bucket, { chunks }] of job.buckets.entries()) if (chunks > 0) send(job, { bucket, chunk: 0 });
    yield* finish(job);
  }

  const isDone = (bucket: Bucket): boolean => bucket.next >= bucket.chunks;
  const outcomeOf = ({ value: before }: Item, { value }: Row): Outcome =>
    before === undefined ? "created" : before === value ? "unchanged" : "updated";

  const clockOfWorker = (): (() => number) => {
    const off = isSkewed ? (below(3) - 1) * HOUR : 0;
    return () => now + off;
  };
  const isOwn = (bucket: Bucket, claim: number): boolean => !holds("claim") || bucket.claim === claim;

  /** Claims a bucket. @param seen as it was read @returns the claim; undefined if it has changed, or others work on it */
  const claimed = (
    bucket: Bucket,
    seen: Pick<Bucket, "claim" | "next">,
    clock: () => number,
    closes: boolean,
  ): number | undefined => {
    if (!isOwn(bucket, seen.claim) || (holds("next") && bucket.next !== seen.next)) return undefined;
    if (bucket.busyUntil > clock() || bucket.closed || (bucket.stop && !closes)) return undefined;
    bucket.claim += 1;
    bucket.attempts += 1;
    bucket.busyUntil = clock() + CLAIM;
    bucket.resent = 0;
    bucket.movedAt = now;
    return bucket.claim;
  };
  function* apply(job: Job, number: number, chunk: number): Work {
    if (!job.published || job.status !== "open") return;
    const bucket = job.buckets[number]!;
    if (job.stopping || job.buckets.every(isDone)) {
      yield* finish(job);
      return;
    }
    if (bucket.next !== chunk || isDone(bucket) || organization.isErasing) return;
    const clock = clockOfWorker();
    const seen = { ...bucket };
    yield 1;
    let claim = claimed(bucket, seen, clock, false);
    if (claim === undefined) return;
    if (bucket.attempts > ATTEMPTS_MAX) {
      stop(job, "failed");
      bucket.busyUntil = 0;
      yield* finish(job);
      return;
    }
    let until = bucket.busyUntil;
    yield 1;
    const rows = (objects.get(chunkKey(job, number, chunk)) ?? []) as readonly Row[];
    const left = rows.filter(({ row }) => row > bucket.after);
    for (const [index, row] of left.entries()) {
      // Its worker dies here.
      if (row.row === job.deadly) return;
      const result = yield* applyRow(job, bucket, row, clock, claim, until);
      if (result === "lost") return;
      if (result === "refused") {
        refuse(job, bucket, number, clock, claim);
        return;
      }
      ({ until } = result);
      const lines = holds("lines") ? `${job.id}/lines/${number}-${claim}` : `${job.id}/lines/${number}-${chunk}`;
      objects.set(lines, [{ row: row.row, outcome: result.outcome }]);
      yield 1;
      // The counters and the place are changed in one write, on condition of the claim.
      if (!isOwn(bucket, claim)) return;
      const isLast = index === left.length - 1;
      bucket.counts = added(bucket.counts, [result.outcome]);
      bucket.lines = [...bucket.lines, lines];
      bucket.next = isLast ? chunk + 1 : chunk;
      bucket.after = isLast ? 0 : row.row;
      bucket.refusedSince = 0;
      bucket.movedAt = now;
      if (isLast || random() < 0.2) {
        Object.assign(bucket, { attempts: 0, busyUntil: 0 });
        break;
      }
      bucket.claim += 1;
      claim = bucket.claim;
      bucket.attempts = 1;
      bucket.busyUntil = clock() + CLAIM;
      until = bucket.busyUntil;
      if (bucket.stop) {
        Object.assign(bucket, { attempts: 0, busyUntil: 0, closed: true });
        break;
      }
      yield 1;
    }
    yield 1;
    if (!bucket.stop && !isDone(bucket)) send(job, { bucket: number, chunk: bucket.next });
    else yield* finish(job);
  }

  const refuse = (job: Job, bucket: Bucket, number: number, clock: () => number, claim: number): void => {
    if (!isOwn(bucket, claim)) return;
    if (holds("alive")) bucket.attempts -= 1;
    bucket.refusedSince ||= now;
    const delay = Math.min(30, Math.max(2, now - bucket.refusedSince));
    bucket.busyUntil = clock() + delay / 2;
    bucket.movedAt = now;
    if (holds("refused") && now - bucket.refusedSince > DAY) stop(job, "failed");
    send(job, { bucket: number, chunk: bucket.next }, delay);
  };

  function* applyRow(
    job: Job,
    bucket: Bucket,
    row: Row,
    clock: () => number,
    claim: number,
    given: number,
  ): Generator<number, "lost" | "refused" | { readonly outcome: Outcome; readonly until: number }> {
    let until = given;
    for (let isRetry = false; ; isRetry = true) {
      if (isOut() || row.row === job.refused) return "refused";
      const item = items.get(row.item) ?? NO_ITEM;
      yield 1;
      if (isRetry || (holds("clock") && clock() >= until - CLAIM_MARGIN)) {
        if (!isOwn(bucket, claim) || bucket.stop || bucket.closed) return "lost";
        bucket.busyUntil = clock() + CLAIM;
        until = bucket.busyUntil;
      }
      const own = item.marks.get(job.id) ?? [];
      const known = holds("marks")
        ? row.row > (own.at(-1)?.row ?? 0)
          ? undefined
          : (own.find((mark) => mark.row === row.row)?.outcome ?? "unchanged")
        : undefined;
      const outcome = known ?? outcomeOf(item, row);
      if (known !== undefined || outcome === "unchanged") return { outcome, until };
      if (random() < 0.3) yield 1;
      // A request is on its way for less than the margin.
      if (holds("clock") && clock() >= until) return "lost";
      if ((items.get(row.item) ?? NO_ITEM).version !== item.version) continue;
      if (job.written.has(row.row) && !organization.isErasing) wrong.add("a row is applied twice");
      if (job.status !== "open") wrong.add("a row is applied after its job has ended");
      if (organization.isErased) wrong.add("an item is written after the erasure");
      job.written.set(row.row, outcome);
      const marks = new Map([[job.id, [...own.filter((mark) => mark.row >= row.row), { row: row.row, outcome }]]]);
      for (const other of jobs) {
        const kept = item.marks.get(other.id);
        const isOver = holds("live") ? other.status !== "open" : !looksOpen(other) || random() < 0.3;
        if (other !== job && kept && !isOver) marks.set(other.id, [...kept]);
      }
      items.set(row.item, { version: item.version + 1, value: row.value, marks });
      return { outcome, until };
    }
  }

  /** Counts the rows of a stopped bucket's chunk that its workers have applied, by the marks. */
  function* settle(job: Job, number: number, bucket: Bucket): Work {
    const seen = { ...bucket };
    yield 1;
    const claim = claimed(bucket, seen, clockOfWorker(), true);
    if (claim === undefined) return;
    yield 1;
    const rows = (objects.get(chunkKey(job, number, bucket.next)) ?? []) as readonly Row[];
    const found: Mark[] = [];
    for (const { row, item } of rows.filter((each) => each.row > bucket.after)) {
      const mark = items
        .get(item)
        ?.marks.get(job.id)
        ?.find((each) => each.row === row);
      if (mark) found.push(mark);
      yield 1;
    }
    const lines = `${job.id}/lines/${number}-${claim}`;
    objects.set(lines, found);
    yield 1;
    if (!isOwn(bucket, claim) || bucket.closed) return;
    bucket.counts = added(
      bucket.counts,
      found.map(({ outcome }) => outcome),
    );
    bucket.lines = [...bucket.lines, lines];
    Object.assign(bucket, { closed: true, busyUntil: 0, attempts: 0 });
  }

  const isSettled = (bucket: Bucket): boolean => bucket.closed || isDone(bucket);
  function* finish(job: Job): Work {
    if (job.status !== "open" || organization.isErased) return;
    if (job.stopping) {
      for (const bucket of job.buckets) {
        if (isSettled(bucket)) continue;
        // A claim that counted nothing may have applied rows.
        if (!bucket.stop && bucket.attempts === 0 && bucket.refusedSince === 0) bucket.closed = true;
        bucket.stop = true;
        yield 1;
      }
      for (const [number, bucket] of job.buckets.entries()) {
        if (isSettled(bucket) || bucket.busyUntil > now) continue;
        if (holds("close")) yield* settle(job, number, bucket);
        else bucket.closed = true;
      }
      if (!job.buckets.every(isSettled)) return;
    } else if (!job.published || !job.buckets.every(isDone)) return;
    const counts = job.buckets.reduce<ReadonlyMap<Outcome, number>>((sum, bucket) => {
      let next = sum;
      for (const [outcome, count] of bucket.counts)
        next = added(
          next,
          Array.from({ length: count }, () => outcome),
        );
      return next;
    }, new Map());
    yield 1;
    if (job.status !== "open" || organization.isErased) return;
    job.status = job.stopping ?? "completed";
    job.totals = counts;
    job.endedAt = now;
  }

  const sweep = (): void => {
    for (const job of jobs) {
      if (!looksOpen(job) || job.status !== "open" || organization.isErased) continue;
      if (!job.published && !job.stopping) {
        if (job.splitBusyUntil < now) send(job);
      } else if (job.stopping || job.buckets.every(isDone)) work(finish(job), APPLY_MAX, () => undefined);
      else {
        for (const [number, bucket] of job.buckets.entries()) {
          if (isDone(bucket) || bucket.busyUntil > now) continue;
          const wait = bucket.busyUntil > 0 && bucket.resent === 0 ? 20 : MINUTE * 2 ** Math.min(5, bucket.resent);
          if (now < Math.max(bucket.movedAt, bucket.busyUntil) + wait) continue;
          send(job, { bucket: number, chunk: bucket.next });
          bucket.resent += 1;
          bucket.movedAt = now;
        }
      }
    }
    if (now < END - HOUR && jobs.some(({ status }) => status === "open"))
      after(now < 6 * HOUR ? MINUTE : 10 * MINUTE, sweep);
  };
  /** What a caller sees: counters never fall, never pass the total, and stay once the job has ended. */
  const poll = (): void => {
    for (const job of jobs) {
      const count = job.totals ? sumOf(job.totals) : job.buckets.reduce((sum, { counts }) => sum + sumOf(counts), 0);
      if (count < job.highest) wrong.add("counters fall");
      if (count > job.rows.length) wrong.add("counters pass the total");
      job.highest = count;
    }
    if (now < 5 * HOUR) after(5 + below(40), poll);
  };
  const change = (): void => {
    const key = below(ITEMS);
    const item = items.get(key);
    if (item && !organization.isErasing) items.set(key, { ...item, version: item.version + 1, value: below(3) });
    if (now < 1000) after(random() * 20, change);
  };
  const erase = (): void => {
    organization.isErasing = true;
    const pass = (): void => {
      items.clear();
      objects.clear();
    };
    pass();
    after(holds("erased") ? SPLIT_MAX + APPLY_MAX : 1, () => {
      pass();
      organization.isErased = true;
      after(2 * HOUR, () => {
        if (items.size > 0 || objects.size > 0) wrong.add("data is left after the erasure");
      });
    });
  };

  for (const job of jobs) {
    after(random() * 100, () => {
      send(job);
      if (random() < 0.3)
        after(random() * [60, 600][below(2)]!, () => {
          stop(job, "cancelled");
          work(finish(job), 30, () => undefined);
        });
    });
  }
  after(1, sweep);
  after(2, poll);
  after(20, change);
  if (random() < 0.1) after(random() * 800, erase);
  for (let count = 0; count < 60_000 && now < END; count++) {
    const task = tasks.take();
    if (task === undefined) break;
    now = Math.max(now, task.at);
    task.run();
  }

  for (const job of organization.isErasing ? [] : jobs) {
    if (job.status === "open") {
      wrong.add("a job never ends");
      continue;
    }
    const isHealthy = deaths === 0 && job.deadly === 0 && job.refused === 0;
    if (isHealthy && job.status === "failed") wrong.add("a healthy job fails");
    const totals = job.totals ?? new Map<Outcome, number>();
    const applied = added(new Map(), [...job.written.values()]);
    for (const outcome of ["created", "updated"] as const) {
      if ((applied.get(outcome) ?? 0) !== (totals.get(outcome) ?? 0))
        wrong.add("rows are applied and not counted, or otherwise");
    }
    const listed = job.buckets.flatMap(({ lines }) =>
      lines.flatMap((key) => objects.get(key) ?? []),
    ) as readonly Mark[];
    if (
      shown(
        added(
          new Map(),
          listed.map(({ outcome }) => outcome),
        ),
      ) !== shown(totals)
    )
      wrong.add("the results differ from the counters");
    if (job.status === "completed" && sumOf(totals) !== job.rows.length)
      wrong.add("a completed job has not counted all rows");
  }
  return { wrong: [...wrong], faults };
}
