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
  endpointStateSchema,
  isUnreachable,
  newState,
  nextStep,
  noted,
  type Outcome,
  renewed,
  type Ring,
  ringing,
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
const ringOf = (id: string, position?: number): Ring => ({ id, position, wantsJobs: true });
/** An endpoint to which nothing is due, as long after its creation. */
const quiet = endpointStateSchema.parse({ enabled: true });
const job = (id: string): EndedJob => ({
  id,
  status: "completed",
  dry_run: false,
  total_rows: 1,
  succeeded_rows: 1,
  failed_rows: 0,
});

/** The message that is due. */
const sentAt = (state: EndpointState, now: number, webhook = "webhook"): WebhookMessage => {
  const step = nextStep(webhook, state, now);
  if (step.kind !== "send") throw new Error(step.kind);
  return step.message;
};
/** The state after a call that one worker makes and ends at one time. */
const afterCall = (state: EndpointState, message: WebhookMessage, outcome: Outcome, now: number, chance = 0) => {
  const call = { webhook: "webhook", by: "me", generation: 0, message, outcome };
  return delivered(claimed(state, "me", now), call, now, chance)!;
};

interface Call {
  readonly began: number;
  readonly ended: number;
  readonly message: WebhookMessage;
  readonly isTold: boolean;
}

/**
 * A world of one endpoint, several workers and a queue that loses, repeats and delays messages. Workers die before and after
 * each call, or are frozen; the receiver fails for hours at a time, and its owner asks for a ring or changes the URL. Every state
 * is written by compare-and-set, so each change is one step.
 * @param calmFrom until when there are changes, and until when messages are lost
 */
function simulate(seed: number, calmFrom = HOUR) {
  const random = randomFrom(seed);
  const chance = (probability: number): boolean => random() < probability;
  const between = (least: number, most: number): number => Math.floor(least + random() * (most - least));
  const steps: { readonly at: number; readonly run: () => void }[] = [];
  let now = 0;
  const after = (delay: number, run: () => void): void => void steps.push({ at: now + delay, run });

  const lastBurst = calmFrom - 6 * MINUTE;
  const end = calmFrom + 3 * HOUR;
  const isWild = () => now < calmFrom;
  const failsFrom = between(0, HOUR);
  const failsUntil = failsFrom + between(0, HOUR);
  const calls: Call[] = [];
  const jobsTold = new Set<string>();
  const jobsEnded: { readonly id: string; readonly at: number }[] = [];
  let newest = 100;
  let read = 0;
  let listedAt = -1;
  let state = newState(ringOf("first", newest), 0);

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
    const { generation } = state;
    if (isDead()) return;
    after(between(1, 50), () => {
      const began = now;
      const isFailing = now >= failsFrom && now < failsUntil;
      after(between(1, isFailing ? 15 * SECOND : 500), () => {
        const isTold = !isFailing;
        calls.push({ began, ended: now, message: step.message, isTold });
        if (isTold && step.message.type === "upload.ended") jobsTold.add((step.message.data as EndedJob).id);
        // It reads the feed to its end, and lists all jobs.
        if (isTold && step.message.type === "work_items.changed") read = newest;
        if (isTold && step.message.type === "uploads.ended") listedAt = began;
        if (isDead()) return;
        const outcome = isTold ? OK : { status: 500, milliseconds: 5 };
        const call = { webhook: "webhook", by, generation, message: step.message, outcome };
        // Some are frozen until another worker has claimed the endpoint.
        after(isWild() && chance(0.05) ? 30 * SECOND : 0, () => {
          const next = delivered(state, call, now, random());
          if (next === undefined) return;
          write(next);
          if (!isDead()) send(delayAfterCall("webhook", next, now));
        });
      });
    });
  }
  /** News come again until a worker has noted them and sent its message. */
  function tell(position: number, jobs: readonly EndedJob[]): void {
    if (isDead()) return after(between(SECOND, MINUTE), () => tell(position, jobs));
    const before = state;
    write(noted(state, { position, jobs }, now));
    if (isDead()) return after(between(SECOND, MINUTE), () => tell(position, jobs));
    send(delayAfterNews("webhook", before, state, now));
  }
  function change(): void {
    newest += between(1, 1000);
    const ended = chance(0.2) ? [job(`job ${jobsEnded.length}`)] : [];
    for (const { id } of ended) jobsEnded.push({ id, at: now });
    const position = newest;
    // Whoever doesn't know yet that there is a webhook doesn't tell it.
    const isKnown = now >= 10 * SECOND || chance(0.5);
    if (isKnown) after(between(0, 5 * SECOND), () => tell(position, ended));
    if (isWild()) after(chance(0.9) || now > lastBurst ? between(1, 400) : between(0, 5 * MINUTE), change);
  }
  function ask(): void {
    if (state.busy_until <= now) {
      write(ringing(state, ringOf(`asked at ${now}`, newest), now));
      if (!isDead()) send(0);
    }
    if (isWild()) after(between(1, 10 * MINUTE), ask);
  }
  function move(): void {
    write(renewed(state, ringOf(`moved at ${now}`, newest), now));
    if (!isDead()) send(15 * SECOND);
    if (isWild()) after(between(1, 10 * MINUTE), move);
  }
  function sweep(): void {
    const at = checkAt(state);
    if (at !== undefined && at <= now) send(0);
    if (now < end) after(MINUTE, sweep);
  }
  after(0, change);
  after(between(0, MINUTE), ask);
  after(between(0, 10 * MINUTE), move);
  send(15 * SECOND);
  after(MINUTE, sweep);
  while (steps.length > 0) {
    const first = steps.reduce((least, step, index) => (step.at < steps[least]!.at ? index : least), 0);
    const [{ at, run }] = steps.splice(first, 1) as [(typeof steps)[number]];
    now = at;
    run();
  }
  const begun = calls.filter(({ message }) => message.type === "work_items.changed").map(({ began }) => began);
  const all = calls.toSorted((a, b) => a.began - b.began);
  return {
    newest,
    read,
    jobs: jobsEnded.length,
    missed: jobsEnded.filter(({ id, at }) => !jobsTold.has(id) && at >= listedAt),
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
      const { read, newest, missed, overlaps, leastGap, state } = world;
      expect({ seed, read, missed, overlaps }).toEqual({ seed, read: newest, missed: [], overlaps: 0 });
      expect({ seed, leastGap }).toEqual({ seed, leastGap: expect.toSatisfy((gap: number) => gap >= SECOND) });
      expect({ seed, check: checkAt(state) }).toEqual({ seed, check: undefined });
      [calls, jobs] = [calls + world.calls, jobs + world.jobs];
    }
    expect(calls).toBeGreaterThan(10_000);
    expect(jobs).toBeGreaterThan(10_000);
  });

  it("hears of everything that changed in the first ten seconds, of which not all know that it exists", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const { read, newest, missed } = simulate(seed, 10 * SECOND);
      expect({ seed, read, missed }).toEqual({ seed, read: newest, missed: [] });
    }
  });
});

describe("an endpoint that fails", () => {
  const failing = (outcome: Outcome, attempts: number) => {
    let [state, now] = [noted(quiet, { position: 1 }, T), T];
    const waits: number[] = [];
    for (let attempt = 0; attempt < attempts && state.enabled; attempt++) {
      state = afterCall(state, sentAt(state, now), outcome, now, 1);
      waits.push((state.next_attempt_at - now) / SECOND);
      now = state.next_attempt_at;
    }
    return { state, waits, now };
  };

  it("is called after 5 and 30 seconds, 2, 10 and 30 minutes, and then every hour with jitter", () => {
    expect(failing({ status: 500, milliseconds: 1 }, 7).waits).toEqual([5, 30, 120, 600, 1800, 3960, 3960]);
    expect(failing({ reason: "the host wasn't found", milliseconds: 1 }, 2).waits).toEqual([5, 30]);
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
    expect(state).toMatchObject({ enabled: false, disabled_reason: "failures", jobs: [] });
    expect(state.failing_since).toBe(T);
    expect(state.deliveries[0]!.at).toBeGreaterThanOrEqual(T + 5 * DAY);
    expect(now).toBe(0);
    expect(checkAt(state)).toBe(undefined);
    const gone = failing({ status: 410, milliseconds: 1 }, 5);
    expect([gone.waits.length, gone.state.disabled_reason]).toEqual([1, "gone"]);
  });

  it("counts as unreachable for a day, while its last call got no response", () => {
    const nothing = { reason: "the host is unknown", milliseconds: 1 };
    const { state } = failing(nothing, 10);
    const { state: old } = failing(nothing, 40);
    expect(old.deliveries[0]!.at).toBeGreaterThan(T + DAY);
    expect([state, old, failing({ status: 500, milliseconds: 1 }, 10).state, quiet].map(isUnreachable)).toEqual([
      true,
      false,
      false,
      false,
    ]);
    const message = { id: "test", type: "webhook.test", data: {} } as const;
    expect(isUnreachable(afterCall(state, message, { status: 500, milliseconds: 1 }, T))).toBe(false);
  });

  it("starts from the beginning after one success", () => {
    const { state, now } = failing({ status: 500, milliseconds: 1 }, 4);
    const after = afterCall(state, sentAt(state, now), OK, now);
    expect(after).toMatchObject({ attempts: 0, next_attempt_at: 0, sent: 1 });
    expect(after.failing_since).toBe(undefined);
  });
});

describe("ended jobs", () => {
  it("become one message, all but the newest hundred", () => {
    const jobs = Array.from({ length: 101 }, (_, index) => job(String(index)));
    const hundred = noted(quiet, { jobs: jobs.slice(0, 100) }, T);
    expect([hundred.jobs.length, hundred.more]).toEqual([100, undefined]);
    const more = noted(hundred, { jobs: jobs.slice(100) }, T);
    expect([more.jobs.length, more.jobs[0]?.id, more.more]).toEqual([100, "1", "0"]);
    expect(sentAt(more, T)).toMatchObject({ type: "uploads.ended", data: { more: true } });
  });

  it("may be more than their news name, also if they come again", () => {
    const news = { jobs: [job("b")], more: "a" };
    const told = noted(quiet, news, T);
    expect(told).toMatchObject({ jobs: [job("b")], more: "a" });
    expect(sentAt(told, T).type).toBe("uploads.ended");
    expect(noted(told, news, T)).toBe(told);
    expect(noted({ ...quiet, more: "before" }, { jobs: [job("c")] }, T)).toMatchObject({ more: "before" });
  });

  it("stay apart from the message that rings a new endpoint: its list may not show them yet", () => {
    const greeted = newState(ringOf("x"), T);
    expect(noted(greeted, { jobs: [job("a")] }, T)).toMatchObject({ jobs: [job("a")], more: "x" });
  });

  it("and changes that come while the endpoint is called are told after the call", () => {
    const many = Array.from({ length: 101 }, (_, index) => job(String(index)));
    for (const before of [{ position: 1 }, { jobs: [job("a")] }, { jobs: many }]) {
      const state = claimed(noted(quiet, before, T), "me", T);
      const message = sentAt(noted(quiet, before, T), T);
      const during = noted(state, { position: 2, jobs: [job("b")] }, T);
      const after = delivered(during, { webhook: "webhook", by: "me", generation: 0, message, outcome: OK }, T, 0)!;
      expect(after.due).toBe(2);
      expect([after.more, ...after.jobs.map(({ id }) => id)]).toContain("b");
    }
  });

  it("take turns with changes", () => {
    let state = noted(quiet, { position: 1, jobs: [job("a"), job("b")] }, T);
    const types: string[] = [];
    for (let now = T; now < T + 5 * SECOND; now += SECOND) {
      const message = sentAt(state, now);
      types.push(message.type);
      state = noted(afterCall(state, message, OK, now), { position: now }, now);
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
    const idOf = (webhook: string, state: EndpointState) => sentAt(state, T, webhook).id;
    const told = noted(quiet, { jobs: [job("a")] }, T);
    expect(idOf("x", told)).toBe(idOf("x", { ...told, attempts: 3 }));
    expect(idOf("x", told)).not.toBe(idOf("y", told));
    expect(idOf("x", noted(quiet, { position: 1 }, T))).not.toBe(idOf("x", noted(quiet, { position: 2 }, T)));
  });
});

describe("a webhook that is paused", () => {
  it("is told nothing, and called without a change 15 seconds after it is resumed, also without changes", () => {
    const rungBefore = { ...quiet, sent: 7 };
    const paused = disabled(noted(rungBefore, { position: 8, jobs: [job("a")] }, T), "paused");
    expect(nextStep("webhook", paused, T).kind).toBe("rest");
    expect(noted(paused, { position: 9 }, T)).toBe(paused);
    const resumed = renewed(paused, ringOf("x", 7), HOUR);
    expect(resumed).toMatchObject({ due: 7, more: "x" });
    expect(nextStep("webhook", resumed, HOUR)).toMatchObject({ kind: "wait", until: HOUR + 15 * SECOND });
    // The sweep is for a lost message.
    expect(checkAt(resumed)).toBe(HOUR + MINUTE);
    expect(nextStep("webhook", resumed, HOUR + 15 * SECOND)).toMatchObject({ kind: "send" });
  });

  it("only lists the end of a call that began before, and frees the webhook with it", () => {
    const before = claimed(noted(quiet, { position: 1, jobs: [job("a")] }, T), "me", T);
    const message = sentAt({ ...before, busy_until: 0 }, T);
    const paused = disabled(before, "paused");
    const resumed = renewed(paused, ringOf("x", 1), T + SECOND);
    const moved = renewed(before, ringOf("x", 1), T + SECOND);
    for (const changed of [paused, resumed, moved]) {
      expect(testStep(changed, "id", T + 24 * SECOND).kind).toBe("wait");
      // Its worker has died.
      expect(testStep(changed, "id", T + 25 * SECOND).kind).toBe("send");
      for (const outcome of [
        OK,
        { status: 410, milliseconds: 1 },
        { reason: "the host wasn't found", milliseconds: 1 },
      ]) {
        const call = { webhook: "webhook", by: "me", generation: before.generation, message, outcome };
        const { deliveries, ...after } = delivered(changed, call, T + 2 * SECOND, 0)!;
        const released = { claimed_by: undefined, busy_until: 0, changes_sent_at: T + 2 * SECOND };
        expect(after).toEqual({ ...changed, ...released, deliveries: undefined });
        expect(deliveries).toMatchObject([{ id: message.id, status: outcome.status }]);
        expect(testStep({ ...after, deliveries }, "id", T + 2 * SECOND).kind).toBe("send");
      }
    }
  });
});

describe("a ring that is asked for", () => {
  it("is a new message also if nothing has changed since the last one, and the same for each of its attempts", () => {
    const told = noted(quiet, { position: 7 }, T);
    const before = sentAt(told, T);
    const asked = ringing(afterCall(told, before, OK, T), { ...ringOf("x", 7), wantsJobs: false }, T);
    const again = sentAt(asked, T + SECOND);
    expect(again).toMatchObject({ type: before.type, data: before.data });
    expect(again.id).not.toBe(before.id);
    expect(sentAt({ ...asked, attempts: 3 }, T + SECOND).id).toBe(again.id);
  });

  it("calls a failing endpoint at once, and a new one when its time has come, also if a test succeeds before", () => {
    const failing = { ...noted(quiet, { position: 7 }, T), attempts: 6, failing_since: T, next_attempt_at: T + HOUR };
    expect(nextStep("webhook", failing, T).kind).toBe("wait");
    expect(sentAt(ringing(failing, ringOf("x", 7), T), T).type).toBe("work_items.changed");
    const asked = ringing(newState(ringOf("x", 7), T), ringOf("y", 7), T);
    const message = { id: "test", type: "webhook.test", data: {} } as const;
    for (const each of [asked, afterCall(asked, message, OK, T)]) {
      expect(nextStep("webhook", each, T)).toEqual({ kind: "wait", until: T + 15 * SECOND, isBusy: false });
    }
  });
});

describe("deliveries", () => {
  it("are the last twenty, newest first, tests too, with nothing of the response but its status", () => {
    let state = quiet;
    for (let number = 1; number <= 25; number++) {
      const message = { id: `id ${number}`, type: "webhook.test", data: {} } as const;
      const outcome = { status: 500, retryAfterMs: DAY, milliseconds: number };
      state = afterCall(state, message, outcome, T + number);
    }
    expect(state.deliveries.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, index) => `id ${25 - index}`));
    expect(state.deliveries[0]).toEqual({
      at: T + 25,
      type: "webhook.test",
      id: "id 25",
      status: 500,
      reason: undefined,
      milliseconds: 25,
    });
    expect(disabled(state, "paused").deliveries).toBe(state.deliveries);
    expect(renewed(state, ringOf("x"), T).deliveries).toBe(state.deliveries);
  });
});
