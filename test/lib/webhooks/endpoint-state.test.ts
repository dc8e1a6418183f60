import { describe, expect, it } from "vitest";
import {
  checkAt,
  claimed,
  delayAfterCall,
  delayAfterNews,
  delayIfEarly,
  delivered,
  disabled,
  type EndedJob,
  type EndpointState,
  newState,
  nextStep,
  noted,
  type Outcome,
  renewed,
  testStep,
  type WebhookMessage,
} from "../../../lib/webhooks/endpoint-state.ts";
import { randomFrom } from "../../support/random.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Any time. */
const T = 20 * DAY;
const OK: Outcome = { status: 204, milliseconds: 5 };
const job = (id: string): EndedJob => ({
  id,
  status: "completed",
  dry_run: false,
  total_rows: 1,
  succeeded_rows: 1,
  failed_rows: 0,
});

interface Call {
  readonly began: number;
  readonly ended: number;
  readonly message: WebhookMessage;
  readonly isTold: boolean;
}

/**
 * A world of one endpoint, several workers and a queue that loses, repeats and delays messages. Workers die before and after
 * each call; the receiver fails for hours at a time. Every state is written by compare-and-set, so each change is one step.
 */
function simulate(seed: number, { greets = true } = {}) {
  const random = randomFrom(seed);
  const chance = (probability: number): boolean => random() < probability;
  const between = (least: number, most: number): number => Math.floor(least + random() * (most - least));
  const steps: { readonly at: number; readonly run: () => void }[] = [];
  let now = 0;
  const after = (delay: number, run: () => void): void => void steps.push({ at: now + delay, run });

  const calmFrom = HOUR;
  const lastBurst = calmFrom - 6 * MINUTE;
  const end = calmFrom + 3 * HOUR;
  const isWild = () => now < calmFrom;
  const failsFrom = between(0, HOUR);
  const failsUntil = failsFrom + between(0, HOUR);
  const calls: Call[] = [];
  const jobsTold = new Set<string>();
  const jobsEnded: { readonly id: string; readonly at: number }[] = [];
  let state = newState(0);
  let newest = 100;
  let moreTold = -1;

  const send = (delay: number | undefined): void => {
    if (delay === undefined) return;
    const times = isWild() ? (chance(0.1) ? 0 : chance(0.1) ? 2 : 1) : 1;
    for (let time = 0; time < times; time++) after(Math.ceil(delay / SECOND) * SECOND + between(0, 300), work);
  };
  const write = (next: EndpointState | undefined): void => void (state = next ?? state);
  const isDead = () => isWild() && chance(0.1);

  function work(): void {
    const by = String(random());
    const step = nextStep("webhook", state, now);
    if (isDead()) return;
    if (step.kind === "wait") return send(delayIfEarly(step, now));
    if (step.kind === "rest") return;
    write(claimed(state, by, now));
    if (isDead()) return;
    after(between(1, 50), () => {
      const began = now;
      const isFailing = now >= failsFrom && now < failsUntil;
      after(between(1, isFailing ? 15 * SECOND : 500), () => {
        const isTold = !isFailing;
        calls.push({ began, ended: now, message: step.message, isTold });
        if (isTold && step.message.type === "upload.ended") jobsTold.add((step.message.data as EndedJob).id);
        if (isTold && step.message.type === "uploads.ended") moreTold = began;
        if (isDead()) return;
        const outcome = isTold ? OK : { status: 500, milliseconds: 5 };
        const next = delivered(state, { webhook: "webhook", by, message: step.message, outcome }, now, random());
        if (next === undefined) return;
        write(next);
        if (!isDead()) send(delayAfterCall("webhook", next, now));
      });
    });
  }
  /** News come again until a worker has noted them and sent its message. */
  function tell(position: number, jobs: readonly EndedJob[], isGreeting = false): void {
    if (isDead()) return after(between(SECOND, MINUTE), () => tell(position, jobs, isGreeting));
    const before = state;
    write(noted(state, { position, jobs, isGreeting, more: isGreeting ? `greeting ${now}` : undefined }, now));
    if (isDead()) return after(between(SECOND, MINUTE), () => tell(position, jobs, isGreeting));
    send(delayAfterNews("webhook", before, state, now));
  }
  function change(): void {
    newest += between(1, 1000);
    const ended = chance(0.2) ? [job(`job ${jobsEnded.length}`)] : [];
    for (const { id } of ended) jobsEnded.push({ id, at: now });
    const position = newest;
    after(between(0, 5 * SECOND), () => tell(position, ended));
    if (isWild()) after(chance(0.9) || now > lastBurst ? between(1, 400) : between(0, 5 * MINUTE), change);
  }
  function sweep(): void {
    const at = checkAt(state);
    if (greets && (state.greet_at ?? Infinity) <= now) after(between(0, SECOND), () => tell(newest, [], true));
    if (at !== undefined && at <= now) send(0);
    if (now < end) after(MINUTE, sweep);
  }
  after(0, change);
  after(MINUTE, sweep);
  while (steps.length > 0) {
    const first = steps.reduce((least, step, index) => (step.at < steps[least]!.at ? index : least), 0);
    const [{ at, run }] = steps.splice(first, 1) as [(typeof steps)[number]];
    now = at;
    run();
  }
  const rung = calls.filter(({ message, isTold }) => message.type === "work_items.changed" && isTold);
  const positions = rung.map(({ message }) => (message.data as { sequence: number }).sequence);
  const begun = calls.filter(({ message }) => message.type === "work_items.changed").map(({ began }) => began);
  const all = calls.toSorted((a, b) => a.began - b.began);
  return {
    newest,
    told: Math.max(...positions),
    jobs: jobsEnded.length,
    missed: jobsEnded.filter(({ id, at }) => !jobsTold.has(id) && at >= moreTold),
    leastGap: Math.min(
      ...begun.toSorted((a, b) => a - b).map((at, index, list) => at - (list[index - 1] ?? -Infinity)),
    ),
    overlaps: all.filter(({ began }, index) => began < (all[index - 1]?.ended ?? 0)).length,
    calls: calls.length,
    state,
  };
}

describe("an endpoint, whatever dies and gets lost", () => {
  it("is told the newest position and every ended job once all rests, by one call at a time and one ring a second", () => {
    let calls = 0;
    let jobs = 0;
    for (let seed = 1; seed <= 200; seed++) {
      const world = simulate(seed);
      const { told, newest, missed, overlaps, leastGap, state } = world;
      expect({ seed, told, missed, overlaps }).toEqual({ seed, told: newest, missed: [], overlaps: 0 });
      expect({ seed, leastGap }).toEqual({ seed, leastGap: expect.toSatisfy((gap: number) => gap >= SECOND) });
      expect({ seed, check: checkAt(state) }).toEqual({ seed, check: undefined });
      [calls, jobs] = [calls + world.calls, jobs + world.jobs];
    }
    expect(calls).toBeGreaterThan(10_000);
    expect(jobs).toBeGreaterThan(10_000);
  });
});

describe("an endpoint that fails", () => {
  const failing = (outcome: Outcome, attempts: number) => {
    let [state, now] = [noted({ ...newState(T), greet_at: undefined }, { position: 1 }, T), T];
    const waits: number[] = [];
    for (let attempt = 0; attempt < attempts && state.enabled; attempt++) {
      const step = nextStep("webhook", state, now);
      if (step.kind !== "send") throw new Error(step.kind);
      const { message } = step;
      const call = { webhook: "webhook", by: "me", message, outcome };
      state = delivered(claimed(state, "me", now), call, now, 1) ?? state;
      waits.push((state.next_attempt_at - now) / SECOND);
      now = state.next_attempt_at;
    }
    return { state, waits, now };
  };

  it("is called after 5 and 30 seconds, 2, 10 and 30 minutes, and then every hour with jitter", () => {
    expect(failing({ status: 500, milliseconds: 1 }, 7).waits).toEqual([5, 30, 120, 600, 1800, 3960, 3960]);
    expect(failing({ reason: "the host is unknown", milliseconds: 1 }, 2).waits).toEqual([5, 30]);
    expect(failing({ status: 302, milliseconds: 1 }, 2).waits).toEqual([5, 30]);
  });

  it("is left alone for as long as its Retry-After says, up to an hour, with 429 and 503 only", () => {
    const waitsOf = (status: number, retryAfterMs: number) =>
      failing({ status, retryAfterMs, milliseconds: 1 }, 2).waits;
    expect(waitsOf(429, 7 * SECOND)).toEqual([7, 30]);
    expect(waitsOf(503, DAY)).toEqual([3600, 3600]);
    expect(waitsOf(500, DAY)).toEqual([5, 30]);
  });

  it("is disabled after five days, and at once by 410", () => {
    const { state, now } = failing({ status: 500, milliseconds: 1 }, 1000);
    expect(state).toMatchObject({ enabled: false, last: { status: 500 }, jobs: [] });
    expect(state.failing_since).toBe(T);
    expect(state.last!.at).toBeGreaterThanOrEqual(T + 5 * DAY);
    expect(now).toBe(0);
    expect(checkAt(state)).toBe(undefined);
    expect(failing({ status: 410, milliseconds: 1 }, 5).waits).toHaveLength(1);
  });

  it("starts from the beginning after one success", () => {
    const { state, now } = failing({ status: 500, milliseconds: 1 }, 4);
    const step = nextStep("webhook", state, now);
    const message = (step as { message: WebhookMessage }).message;
    const call = { webhook: "webhook", by: "me", message, outcome: OK };
    const after = delivered(claimed(state, "me", now), call, now, 0)!;
    expect(after).toMatchObject({ attempts: 0, next_attempt_at: 0, sent: 1 });
    expect(after.failing_since).toBe(undefined);
  });
});

describe("ended jobs", () => {
  const quiet = { ...newState(T), greet_at: undefined };
  it("become one message, all but the newest hundred", () => {
    const jobs = Array.from({ length: 101 }, (_, index) => job(String(index)));
    const hundred = noted(quiet, { jobs: jobs.slice(0, 100) }, T);
    expect([hundred.jobs.length, hundred.more]).toEqual([100, undefined]);
    const more = noted(hundred, { jobs: jobs.slice(100) }, T);
    expect([more.jobs.length, more.jobs[0]?.id, more.more]).toEqual([100, "1", "0"]);
    expect(nextStep("webhook", more, T)).toMatchObject({ message: { type: "uploads.ended", data: { more: true } } });
  });

  it("may be more than their news name, also if they come again", () => {
    const news = { jobs: [job("b")], more: "a" };
    const told = noted(quiet, news, T);
    expect(told).toMatchObject({ jobs: [job("b")], more: "a" });
    const message = (nextStep("webhook", told, T) as { message: WebhookMessage }).message;
    expect(message.type).toBe("uploads.ended");
    expect(noted(told, news, T)).toBe(told);
    expect(noted({ ...quiet, more: "before" }, { jobs: [job("c")] }, T)).toMatchObject({ more: "before" });
  });

  it("stay apart from the message that rings a new endpoint: its list may not show them yet", () => {
    const greeted = noted(newState(T), { isGreeting: true, more: "x" }, T);
    expect(noted(greeted, { jobs: [job("a")] }, T)).toMatchObject({ jobs: [job("a")], more: "x" });
  });

  it("and changes that come while the endpoint is called are told after the call", () => {
    const many = Array.from({ length: 101 }, (_, index) => job(String(index)));
    for (const before of [{ position: 1 }, { jobs: [job("a")] }, { jobs: many }]) {
      const state = claimed(noted(quiet, before, T), "me", T);
      const { message } = nextStep("webhook", noted(quiet, before, T), T) as { message: WebhookMessage };
      const during = noted(state, { position: 2, jobs: [job("b")] }, T);
      const after = delivered(during, { webhook: "webhook", by: "me", message, outcome: OK }, T, 0)!;
      expect(after.due).toBe(2);
      expect([after.more, ...after.jobs.map(({ id }) => id)]).toContain("b");
    }
  });

  it("take turns with changes", () => {
    let state = noted(quiet, { position: 1, jobs: [job("a"), job("b")] }, T);
    const types: string[] = [];
    for (let now = T; now < T + 5 * SECOND; now += SECOND) {
      const step = nextStep("webhook", state, now);
      if (step.kind !== "send") break;
      types.push(step.message.type);
      const call = { webhook: "webhook", by: "me", message: step.message, outcome: OK };
      state = noted(delivered(claimed(state, "me", now), call, now, 0)!, { position: now }, now);
    }
    expect(types).toEqual([
      "work_items.changed",
      "upload.ended",
      "work_items.changed",
      "upload.ended",
      "work_items.changed",
    ]);
  });

  it("have one id for each webhook and job, and changes one for each position", () => {
    const idOf = (webhook: string, state: EndpointState) =>
      (nextStep(webhook, state, T) as { message: WebhookMessage }).message.id;
    const told = noted(quiet, { jobs: [job("a")] }, T);
    expect(idOf("x", told)).toBe(idOf("x", { ...told, attempts: 3 }));
    expect(idOf("x", told)).not.toBe(idOf("y", told));
    expect(idOf("x", noted(quiet, { position: 1 }, T))).not.toBe(idOf("x", noted(quiet, { position: 2 }, T)));
  });
});

describe("a webhook that is paused", () => {
  it("is told nothing, and called without a change 90 seconds after it is resumed, also without changes", () => {
    const rung = { ...newState(T), greet_at: undefined, sent: 7 };
    const paused = disabled(noted(rung, { position: 8, jobs: [job("a")] }, T));
    expect(nextStep("webhook", paused, T).kind).toBe("rest");
    expect(noted(paused, { position: 9 }, T)).toBe(paused);
    const resumed = renewed(paused, true, HOUR);
    expect(checkAt(resumed)).toBe(HOUR + 90 * SECOND);
    const greeted = noted(resumed, { position: 7, isGreeting: true, more: "x" }, HOUR);
    expect(greeted).toMatchObject({ due: 7, more: "x" });
    expect(noted(greeted, { position: 7, isGreeting: true, more: "y" }, HOUR)).toBe(greeted);
  });

  it("gives up the claim of a call that is under way", () => {
    const state = claimed(noted(newState(T), { position: 1 }, T), "me", T);
    const step = {
      webhook: "webhook",
      by: "me",
      message: { id: "", type: "webhook.test", data: {} } as const,
      outcome: OK,
    };
    const resumed = renewed(disabled(state), true, T);
    expect(delivered(resumed, step, T, 0)).toBe(undefined);
    // It isn't over before its time is.
    for (const each of [disabled(state), resumed]) expect(testStep(each, "id", T + 24 * SECOND).kind).toBe("wait");
    expect(testStep(resumed, "id", T + 25 * SECOND).kind).toBe("send");
  });
});
