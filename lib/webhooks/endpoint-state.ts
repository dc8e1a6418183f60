import * as z from "zod";
import { webhookMessageId } from "../identity.ts";
import type { UploadStatus } from "../uploads/job/upload-job.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** The least time between two `work_items.changed` for one endpoint. */
const CHANGES_EVERY_MS = SECOND_MS;
/** How long after failed attempts the next one follows; after more it is the last of them. */
const RETRY_AFTER_MS = [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS] as const;
/** So much of a wait of an hour is added at random, so that endpoints of one receiver don't all come at once. */
const JITTER = 0.1;
/** Longer waits that a receiver asks for count as this one. */
const RETRY_AFTER_MAX_MS = HOUR_MS;
/** An endpoint that has failed for so long is disabled. */
const DISABLED_AFTER_MS = 5 * 24 * HOUR_MS;
/** Longer than a call may take: by then the claim of a worker that died has expired. */
const CLAIM_MS = 25 * SECOND_MS;
/** Of more ended jobs, one message stands for the oldest. */
const JOBS_MAX = 100;
/** When the sweep looks at what is due: by then the message about it was lost. */
const SWEPT_AFTER_MS = MINUTE_MS;
/** A new endpoint is called without a change after this time: functions remember for 60 s that an organization had none. */
const GREETED_AFTER_MS = 90 * SECOND_MS;

/** The longest that SQS delays a message; what waits longer is left to the sweep. */
const DELAYED_MAX_MS = 15 * MINUTE_MS;
/** So much earlier than it is due, a message may come: the call then waits until it is due. */
const EARLY_MS = SECOND_MS;

/** An ended job as `upload.ended` tells it. */
export const endedJobSchema = z.object({
  id: z.string(),
  status: z.custom<UploadStatus>((value) => typeof value === "string"),
  dry_run: z.boolean().default(false),
  /** The upload that it undoes; absent if it is none of them. */
  undo_of: z.string().optional(),
  total_rows: z.int(),
  succeeded_rows: z.int(),
  failed_rows: z.int(),
});
/** An ended job as `upload.ended` tells it. */
export type EndedJob = Readonly<z.output<typeof endedJobSchema>>;

/** What an endpoint has answered: its status, or why there is none. */
const outcomeShape = {
  status: z.int().optional(),
  reason: z.string().optional(),
  milliseconds: z.int(),
};

/** The state of one endpoint: what was sent to it, and what is due. All times are in milliseconds since the epoch. */
export const endpointStateSchema = z.object({
  enabled: z.boolean(),
  /** The greatest position of the feed that is to be sent. Absent if it was. */
  due: z.int().optional(),
  /** The position that was sent last. */
  sent: z.int().optional(),
  /** When the last `work_items.changed` ended. */
  changes_sent_at: z.number().default(0),
  /** Ended jobs that were not sent yet, oldest first. */
  jobs: z.array(endedJobSchema).default([]),
  /** Names the message that more jobs may have ended than are sent one by one. */
  more: z.string().optional(),
  /** When the endpoint is called without a change. */
  greet_at: z.number().optional(),
  /** Since when something has been due. Absent if nothing is. */
  due_since: z.number().optional(),
  /** Attempts that have failed since the last success. */
  attempts: z.int().default(0),
  next_attempt_at: z.number().default(0),
  failing_since: z.number().optional(),
  /** Random id of the last claim, and until when its worker may call; 0 if it has given the claim back. */
  claimed_by: z.string().optional(),
  busy_until: z.number().default(0),
  last: z.object({ at: z.number(), type: z.string(), ...outcomeShape }).optional(),
});
/** A decoded state. */
export type EndpointState = Readonly<z.output<typeof endpointStateSchema>>;

/** A message to an endpoint, without its signature. */
export interface WebhookMessage {
  /** The same for each attempt. */
  readonly id: string;
  readonly type: "work_items.changed" | "upload.ended" | "uploads.ended" | "webhook.test";
  readonly data: object;
}

/** What a receiver has answered, or why there is no answer. */
export interface Outcome {
  readonly status?: number;
  readonly reason?: string;
  readonly milliseconds: number;
  /** How long the receiver asks to be left alone. */
  readonly retryAfterMs?: number;
}

/** News for an endpoint. */
export interface News {
  /** The newest position of the feed. */
  readonly position?: number | undefined;
  readonly jobs?: readonly EndedJob[] | undefined;
  /** Names a message that jobs may have ended. */
  readonly more?: string | undefined;
  /** Whether these are the news with which a new endpoint is called without a change. */
  readonly isGreeting?: boolean | undefined;
}

/** The state of an endpoint that is created: nothing was sent to it. */
export function newState(now: number): EndpointState {
  return endpointStateSchema.parse({ enabled: true, greet_at: now + GREETED_AFTER_MS });
}

/**
 * The state after an endpoint was enabled, or got another URL or other types. It is called without a change, as a new one is.
 * @param keepsJobs whether it is still notified of ended jobs
 */
export function renewed(state: EndpointState, keepsJobs: boolean, now: number): EndpointState {
  const { changes_sent_at, busy_until, last, jobs, more } = state;
  return dated({ ...newState(now), changes_sent_at, busy_until, last, ...(keepsJobs && { jobs, more }) }, now);
}

/** The state of an endpoint that is called again at once: its owner says that it works again. */
export function retriedNow(state: EndpointState): EndpointState {
  return { ...state, attempts: 0, next_attempt_at: 0 };
}

/** The state after an endpoint was disabled: nothing is due any more. A call that is under way isn't over. */
export function disabled({ changes_sent_at, busy_until, last, failing_since }: EndpointState): EndpointState {
  return { ...endpointStateSchema.parse({ enabled: false }), changes_sent_at, busy_until, last, failing_since };
}

function hasJobs({ jobs, more }: EndpointState): boolean {
  return jobs.length > 0 || more !== undefined;
}

/** Whether anything is due. */
function isDue(state: EndpointState): boolean {
  return state.due !== undefined || hasJobs(state);
}

/** Sets since when something is due. */
function dated(state: EndpointState, now: number): EndpointState {
  return { ...state, due_since: isDue(state) ? (state.due_since ?? now) : undefined };
}

/** The newest of some ended jobs, and what names the message that stands for the others, if there are more. */
export function newestOf(jobs: readonly EndedJob[]): { readonly jobs: EndedJob[]; readonly more: string | undefined } {
  return { jobs: jobs.slice(-JOBS_MAX), more: jobs.at(-JOBS_MAX - 1)?.id };
}

/** The state after news. It is the same object if they say nothing new. */
export function noted(state: EndpointState, news: News, now: number): EndpointState {
  if (!state.enabled) return state;
  const { position, jobs = [] } = news;
  const isNewer = position !== undefined && position > Math.max(state.due ?? -1, state.sent ?? -1);
  const known = new Set(state.jobs.map(({ id }) => id));
  const added = jobs.filter(({ id }) => !known.has(id));
  const isGreeted = news.isGreeting === true && state.greet_at !== undefined;
  if (!isNewer && added.length === 0 && !isGreeted) return state;
  // The newest stay apart: the list that a receiver then asks for may not show them yet.
  const newest = newestOf([...state.jobs, ...added]);
  const more = news.isGreeting === true && !isGreeted ? undefined : news.more;
  const pending = { ...newest, more: newest.more ?? more ?? state.more };
  const greeted = isGreeted && { greet_at: undefined };
  return dated({ ...state, ...(isNewer && { due: position }), ...pending, ...greeted }, now);
}

/** What a worker does for an endpoint now: sends a message, waits, or nothing. */
export type NextStep =
  | { readonly kind: "send"; readonly message: WebhookMessage }
  | { readonly kind: "wait"; readonly until: number; readonly isBusy: boolean }
  | { readonly kind: "rest" };

/** The message that the feed has changes up to a position. */
export function changesMessage(webhook: string, sequence: number): WebhookMessage {
  return {
    id: webhookMessageId(webhook, "work_items.changed", String(sequence)),
    type: "work_items.changed",
    data: { sequence },
  };
}
/** The message that a job has ended. */
export function endOf(webhook: string, job: EndedJob): WebhookMessage {
  return { id: webhookMessageId(webhook, "upload.ended", job.id), type: "upload.ended", data: job };
}
function jobMessageOf(webhook: string, { jobs: [job], more = "" }: EndpointState): WebhookMessage {
  if (job !== undefined && more === "") return endOf(webhook, job);
  return { id: webhookMessageId(webhook, "uploads.ended", more), type: "uploads.ended", data: { more: true } };
}

/** The wait for the end of a call by another worker, if there is one. */
function waitForCall({ busy_until: until }: EndpointState, now: number): NextStep | undefined {
  return until > now ? { kind: "wait", until, isBusy: true } : undefined;
}

/** What to do for a test that was asked for: it is sent unless a message is being sent, also to a disabled endpoint. */
export function testStep(state: EndpointState, messageId: string, now: number): NextStep {
  return waitForCall(state, now) ?? { kind: "send", message: { id: messageId, type: "webhook.test", data: {} } };
}

/** What to do for an endpoint. Changes and ended jobs take turns, so that neither waits for all of the other. */
export function nextStep(webhook: string, state: EndpointState, now: number): NextStep {
  const { enabled, due, next_attempt_at: nextAttemptAt } = state;
  if (!enabled || !isDue(state)) return { kind: "rest" };
  const wait = waitForCall(state, now);
  if (wait !== undefined) return wait;
  if (nextAttemptAt > now) return { kind: "wait", until: nextAttemptAt, isBusy: false };
  const changesAt = state.changes_sent_at + CHANGES_EVERY_MS;
  const isTurnOfJobs = hasJobs(state) && (changesAt > now || state.last?.type === "work_items.changed");
  if (due === undefined || isTurnOfJobs) return { kind: "send", message: jobMessageOf(webhook, state) };
  if (changesAt > now) return { kind: "wait", until: changesAt, isBusy: false };
  return { kind: "send", message: changesMessage(webhook, due) };
}

/** The state with the claim of a worker. Before it calls, it must have written this. */
export function claimed(state: EndpointState, by: string, now: number): EndpointState {
  return { ...state, claimed_by: by, busy_until: now + CLAIM_MS };
}

/** Takes out what was sent, and nothing that came since. */
function withoutSent(state: EndpointState, { id, type, data }: WebhookMessage, webhook: string): EndpointState {
  if (type === "webhook.test") return state;
  if (type === "upload.ended") {
    const { id: job } = data as EndedJob;
    return { ...state, jobs: state.jobs.filter((each) => each.id !== job) };
  }
  if (type === "uploads.ended") {
    const isSame = state.more !== undefined && webhookMessageId(webhook, type, state.more) === id;
    return isSame ? { ...state, more: undefined } : state;
  }
  const { sequence } = data as { readonly sequence: number };
  const isNewest = state.due !== undefined && state.due <= sequence;
  return { ...state, sent: sequence, due: isNewest ? undefined : state.due };
}

/** Whether an answer is a success: no other status is, redirects included. */
export function isSuccess({ status = 0 }: Outcome): boolean {
  return status >= 200 && status < 300;
}

/** How long to wait after a failed attempt. @param attempts how many have failed @param chance from 0 to 1 */
function retryAfter(attempts: number, { retryAfterMs = 0, status }: Outcome, chance: number): number {
  const wait = RETRY_AFTER_MS[Math.min(attempts, RETRY_AFTER_MS.length) - 1] ?? HOUR_MS;
  const asked = status === 429 || status === 503 ? Math.min(retryAfterMs, RETRY_AFTER_MAX_MS) : 0;
  return Math.max(asked, wait >= HOUR_MS ? wait * (1 + JITTER * chance) : wait);
}

/** What is written after a call. */
export interface Delivered {
  readonly webhook: string;
  /** The claim under which the call was made. */
  readonly by: string;
  readonly message: WebhookMessage;
  readonly outcome: Outcome;
}

/** The state after a call; undefined if another worker has the claim by now, to which the endpoint belongs. */
export function delivered(
  state: EndpointState,
  { webhook, by, message, outcome }: Delivered,
  now: number,
  chance: number,
): EndpointState | undefined {
  if (state.claimed_by !== by) return undefined;
  const { status, reason, milliseconds } = outcome;
  const free = {
    ...state,
    claimed_by: undefined,
    busy_until: 0,
    ...(message.type === "work_items.changed" && { changes_sent_at: now }),
    last: { at: now, type: message.type, status, reason, milliseconds },
  };
  if (isSuccess(outcome)) {
    const after = { ...withoutSent(free, message, webhook), attempts: 0, next_attempt_at: 0, failing_since: undefined };
    return dated(after, now);
  }
  // A test is asked for at any time: how often it fails says nothing of how long the endpoint has failed.
  if (message.type === "webhook.test") return free;
  const since = state.failing_since ?? now;
  const failing = { ...free, attempts: state.attempts + 1, failing_since: since };
  if (status === 410 || now - since >= DISABLED_AFTER_MS) return disabled(failing);
  return { ...failing, next_attempt_at: now + Math.round(retryAfter(failing.attempts, outcome, chance)) };
}

/** After how many milliseconds a message that came early comes again; undefined if another one is on its way. */
export function delayIfEarly({ until, isBusy }: NextStep & { readonly kind: "wait" }, now: number): number | undefined {
  return !isBusy && until - now <= EARLY_MS ? Math.max(0, until - now) : undefined;
}

/** After how many milliseconds an endpoint is to be called for its news; undefined if it is called anyway. */
export function delayAfterNews(
  webhook: string,
  before: EndpointState,
  after: EndpointState,
  now: number,
): number | undefined {
  // If something was due before, there is a message about it. If it was lost, the same news come again.
  if (isDue(before) && after !== before) return undefined;
  const step = nextStep(webhook, after, now);
  if (step.kind === "send") return 0;
  return step.kind === "wait" ? delayIfEarly(step, now) : undefined;
}

/** After how many milliseconds an endpoint is to be called again after a call; undefined if it rests, or the sweep sees to it. */
export function delayAfterCall(webhook: string, state: EndpointState, now: number): number | undefined {
  const step = nextStep(webhook, state, now);
  if (step.kind === "rest") return undefined;
  const delay = step.kind === "wait" ? step.until - now : 0;
  return delay > DELAYED_MAX_MS ? undefined : delay;
}

/** When the sweep looks at an endpoint; undefined if it has nothing to do for it. */
export function checkAt(state: EndpointState): number | undefined {
  const { enabled, due_since: since, next_attempt_at: nextAttemptAt, greet_at: greetAt = Infinity } = state;
  if (!enabled) return undefined;
  const at = Math.min(greetAt, since === undefined ? Infinity : Math.max(since + SWEPT_AFTER_MS, nextAttemptAt));
  return at === Infinity ? undefined : at;
}
