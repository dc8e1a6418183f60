import * as z from "zod";
import { webhookMessageId } from "../identity.ts";
import { FAILING_DAYS_MAX } from "../periods.ts";
import type { UploadStatus } from "../uploads/job/upload-job.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** The minimum time between two `work_items.changed` for one endpoint. */
const CHANGES_EVERY_MS = SECOND_MS;
/** Delays after the first failed attempt, the second, and so on. The last applies to all further ones. */
const RETRY_AFTER_MS = [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS] as const;
/** Share of an hour's wait that is added at random, so that endpoints of one receiver aren't all called at once. */
const JITTER = 0.1;
/** The longest wait that a receiver can ask for. */
const RETRY_AFTER_MAX_MS = HOUR_MS;
/** An endpoint that has failed for this long is disabled. */
const DISABLED_AFTER_MS = FAILING_DAYS_MAX * 24 * HOUR_MS;
/** Longer than a call may take: by then the claim of a worker that died has expired. */
const CLAIM_MS = 25 * SECOND_MS;
/** If more jobs have ended, one message stands for the oldest. */
export const JOBS_MAX = 100;
/** An endpoint that has been unreachable for longer than this is a matter of its owner. */
const UNREACHABLE_FOR_MS = 24 * HOUR_MS;
/** The sweep takes care of what has been due for this long: its message must be lost. */
const SWEPT_AFTER_MS = MINUTE_MS;
/** A new endpoint is called first after this time: functions remember for 10 s that there are no webhooks. */
export const FIRST_CALL_AFTER_MS = 15 * SECOND_MS;
/** So many deliveries of an endpoint are kept. */
const DELIVERIES_MAX = 20;

/** The longest that SQS delays a message. The sweep handles longer waits. */
export const DELAYED_MAX_MS = 15 * MINUTE_MS;
/** A message may arrive this much early. It is then sent again for when it is due. */
const EARLY_MS = SECOND_MS;

/** An ended job as `upload.ended` shows it. */
export const endedJobSchema = z.object({
  id: z.string(),
  status: z.custom<UploadStatus>((value) => typeof value === "string"),
  dry_run: z.boolean().default(false),
  /** Id of the upload that it undoes; absent if it isn't an undo. */
  undo_of: z.string().optional(),
  total_rows: z.int(),
  succeeded_rows: z.int(),
  failed_rows: z.int(),
  /** What an undo did with items; absent if it isn't one. */
  deleted_rows: z.int().optional(),
  partly_undone_rows: z.int().optional(),
  kept_rows: z.int().optional(),
});
/** An ended job as `upload.ended` shows it. */
export type EndedJob = Readonly<z.output<typeof endedJobSchema>>;

/** A job's record, or a job as callers see it, as `upload.ended` shows it: only an undo has what it did with items. */
export function toEndedJob(job: { readonly undo_of?: string | undefined }): EndedJob {
  const { deleted_rows, partly_undone_rows, kept_rows, ...shown } = endedJobSchema.parse(job);
  return job.undo_of === undefined ? shown : { deleted_rows, partly_undone_rows, kept_rows, ...shown };
}

/** The types of messages that a webhook chooses. */
export const WEBHOOK_TYPES = ["work_items.changed", "upload.ended"] as const;
const MESSAGE_TYPES = [...WEBHOOK_TYPES, "uploads.ended", "webhook.test"] as const;

/** A call that has ended. Its reason is one of our own texts: nothing that a receiver sends is kept but the status. */
const deliverySchema = z.object({
  at: z.number(),
  type: z.enum(MESSAGE_TYPES),
  /** The `webhook-id`. */
  id: z.string(),
  status: z.int().optional(),
  reason: z.string().optional(),
  milliseconds: z.int(),
});
/** A call that has ended. */
export type Delivery = Readonly<z.output<typeof deliverySchema>>;

/** Why an endpoint is disabled: its owner paused it, its receiver answered 410, or it failed for days. */
export const disabledReasonSchema = z.enum(["paused", "gone", "failures"]);
export type DisabledReason = z.output<typeof disabledReasonSchema>;

/** The state of one endpoint: what was sent to it, and what is due. All times are in milliseconds since the epoch. */
export const endpointStateSchema = z.object({
  /** How often it was enabled, disabled or sent elsewhere. */
  generation: z.int().default(0),
  enabled: z.boolean(),
  disabled_reason: disabledReasonSchema.optional(),
  /** The feed's newest position that must still be sent. Absent if there is none. */
  due: z.int().optional(),
  /** The position that was last sent. */
  sent: z.int().optional(),
  /** When the last `work_items.changed` ended. */
  changes_sent_at: z.number().default(0),
  /** Ended jobs that haven't been sent yet, oldest first. */
  jobs: z.array(endedJobSchema).default([]),
  /** Names the message that further jobs may have ended. Absent if none is due. */
  more: z.string().optional(),
  /** Random id of the last request to call the endpoint without a change. It makes the messages new ones. */
  asked: z.string().optional(),
  /** A new endpoint isn't called before this time. */
  greet_at: z.number().default(0),
  /** Since when something has been due. Absent if nothing is. */
  due_since: z.number().optional(),
  /** Failed attempts since the last success. */
  attempts: z.int().default(0),
  next_attempt_at: z.number().default(0),
  failing_since: z.number().optional(),
  /** Random id of the last claim, and until when its worker may call; 0 once the claim is released. */
  claimed_by: z.string().optional(),
  busy_until: z.number().default(0),
  /** The last calls, newest first. */
  deliveries: z.array(deliverySchema).default([]),
});
/** A decoded state. */
export type EndpointState = Readonly<z.output<typeof endpointStateSchema>>;

/** A message to an endpoint, without its signature. */
export interface WebhookMessage {
  /** The same for each attempt. */
  readonly id: string;
  readonly type: Delivery["type"];
  readonly data: object;
}

/** When messages of a type are sent. */
interface Sender {
  /** What names the message that is due, and its data. Undefined if none is. */
  readonly due: (state: EndpointState) => { readonly name: string; readonly data: object } | undefined;
  /** Removes what was sent, but nothing that has arrived since. @param isStillDue whether the same message is */
  readonly sent: (state: EndpointState, data: object, isStillDue: boolean) => EndpointState;
}

const SENDERS: Readonly<Record<WebhookMessage["type"], Sender>> = {
  "work_items.changed": {
    due: ({ due, asked = "" }) => (due === undefined ? undefined : { name: `${due}${asked}`, data: { sequence: due } }),
    sent: (state, data, isStillDue) => {
      const { sequence } = data as { readonly sequence: number };
      return { ...state, sent: sequence, ...(isStillDue && { due: undefined, asked: undefined }) };
    },
  },
  "upload.ended": {
    due: ({ jobs: [job], more }) => (job === undefined || more !== undefined ? undefined : { name: job.id, data: job }),
    sent: (state, job) => ({ ...state, jobs: state.jobs.filter(({ id }) => id !== (job as EndedJob).id) }),
  },
  "uploads.ended": {
    due: ({ more }) => (more === undefined ? undefined : { name: more, data: { more: true } }),
    sent: (state, _, isStillDue) => (isStillDue ? { ...state, more: undefined } : state),
  },
  // It is sent at once, or not at all.
  "webhook.test": { due: () => undefined, sent: (state) => state },
};

/** What is due. It begins after the type that was sent last, so that no type holds up another. */
function dueMessages(webhook: string, state: EndpointState): WebhookMessage[] {
  const next = MESSAGE_TYPES.findIndex((type) => type === state.deliveries[0]?.type) + 1;
  return [...MESSAGE_TYPES.slice(next), ...MESSAGE_TYPES.slice(0, next)].flatMap((type) => {
    const due = SENDERS[type].due(state);
    return due === undefined ? [] : [{ id: webhookMessageId(webhook, type, due.name), type, data: due.data }];
  });
}

/** A receiver's response, or why there is none. */
export interface Outcome {
  readonly status?: number;
  readonly reason?: string;
  readonly milliseconds: number;
  /** How long the receiver asks us to wait. */
  readonly retryAfterMs?: number;
}

/** News for an endpoint. */
export interface News {
  /** The newest position of the feed. */
  readonly position?: number | undefined;
  readonly jobs?: readonly EndedJob[] | undefined;
  /** Names the message that jobs may have ended. */
  readonly more?: string | undefined;
}

/** What an endpoint is sent without a change. */
export interface Ring {
  /** Random. */
  readonly id: string;
  /** The newest position of the feed; undefined if it isn't notified of changes. */
  readonly position: number | undefined;
  /** Whether it is notified of ended jobs. One message then stands for all of which it may not know. */
  readonly wantsJobs: boolean;
}

/** The state in which an endpoint is called without a change, at once if it is failing. */
export function ringing(state: EndpointState, { id, position, wantsJobs }: Ring, now: number): EndpointState {
  const due = position === undefined ? state.due : Math.max(position, state.due ?? position);
  return dated({ ...retriedNow(state), asked: id, due, ...(wantsJobs && { more: id }) }, now);
}

/** The state of a new endpoint. It is called without a change. */
export function newState(ring: Ring, now: number): EndpointState {
  return ringing(endpointStateSchema.parse({ enabled: true, greet_at: now + FIRST_CALL_AFTER_MS }), ring, now);
}

/** What stays when an endpoint is enabled, disabled or sent elsewhere. A running call keeps its claim. */
function nextGeneration({ generation, changes_sent_at, claimed_by, busy_until, deliveries }: EndpointState) {
  return { generation: generation + 1, changes_sent_at, claimed_by, busy_until, deliveries };
}

/** The state after an endpoint was enabled, or its URL or types changed. It is called without a change, like a new one. */
export function renewed(state: EndpointState, ring: Ring, now: number): EndpointState {
  const { jobs } = state;
  return dated({ ...newState(ring, now), ...nextGeneration(state), ...(ring.wantsJobs && { jobs }) }, now);
}

/** The state of an endpoint that is called again at once because its owner has enabled it. */
export function retriedNow(state: EndpointState): EndpointState {
  return { ...state, attempts: 0, next_attempt_at: 0 };
}

/** The state after an endpoint was disabled: nothing is due. */
export function disabled(state: EndpointState, disabled_reason: DisabledReason): EndpointState {
  const { failing_since } = state;
  const nothing = endpointStateSchema.parse({ enabled: false });
  return { ...nothing, ...nextGeneration(state), disabled_reason, failing_since };
}

/** Why an endpoint is disabled. */
export function disabledReasonOf({ disabled_reason: reason = "paused" }: EndpointState): DisabledReason {
  return reason;
}

/** Whether anything is due. */
function isDue(state: EndpointState): boolean {
  return Object.values(SENDERS).some(({ due }) => due(state) !== undefined);
}

/** Sets since when something is due. */
function dated(state: EndpointState, now: number): EndpointState {
  return { ...state, due_since: isDue(state) ? (state.due_since ?? now) : undefined };
}

/** The newest of some ended jobs. `more` names the message that stands for the others, if there are any. */
export function newestOf(jobs: readonly EndedJob[]): { readonly jobs: EndedJob[]; readonly more: string | undefined } {
  return { jobs: jobs.slice(-JOBS_MAX), more: jobs.at(-JOBS_MAX - 1)?.id };
}

/** The state after news: the same object if nothing in it is new. */
export function noted(state: EndpointState, news: News, now: number): EndpointState {
  if (!state.enabled) return state;
  const { position, jobs = [] } = news;
  const isNewer = position !== undefined && position > Math.max(state.due ?? -1, state.sent ?? -1);
  const waiting = new Set(state.jobs.map(({ id }) => id));
  const added = jobs.filter(({ id }) => !waiting.has(id));
  if (!isNewer && added.length === 0) return state;
  // The newest are sent one by one: the list that a receiver then requests may not show them yet.
  const newest = newestOf([...state.jobs, ...added]);
  const pending = { ...newest, more: newest.more ?? news.more ?? state.more };
  return dated({ ...state, ...(isNewer && { due: position }), ...pending }, now);
}

/** What a worker does for an endpoint now: send a message, wait, or nothing. */
export type NextStep =
  | { readonly kind: "send"; readonly message: WebhookMessage }
  | { readonly kind: "wait"; readonly until: number; readonly isBusy: boolean }
  | { readonly kind: "rest" };

/** Message for callers who would have to wait for a call to end. */
export const BEING_CALLED = "a message is being sent to this webhook; try again in a few seconds";

/** Whether a worker is calling an endpoint. */
export function isBeingCalled({ busy_until: until }: EndpointState, now: number): boolean {
  return until > now;
}

/** The wait for another worker's call to end, if there is one. */
function waitForCall(state: EndpointState, now: number): NextStep | undefined {
  return isBeingCalled(state, now) ? { kind: "wait", until: state.busy_until, isBusy: true } : undefined;
}

/** What to do for a requested test: send it, even to a disabled endpoint, unless another message is being sent. */
export function testStep(state: EndpointState, messageId: string, now: number): NextStep {
  return waitForCall(state, now) ?? { kind: "send", message: { id: messageId, type: "webhook.test", data: {} } };
}

/** The time before which an endpoint isn't called; 0 if it can be called at any time. */
export function nextAttemptOf({ next_attempt_at: nextAttemptAt, greet_at: greetAt }: EndpointState): number {
  return Math.max(nextAttemptAt, greetAt);
}

/** What to do for an endpoint. */
export function nextStep(webhook: string, state: EndpointState, now: number): NextStep {
  const messages = state.enabled ? dueMessages(webhook, state) : [];
  if (messages.length === 0) return { kind: "rest" };
  const wait = waitForCall(state, now);
  if (wait !== undefined) return wait;
  const nextAttemptAt = nextAttemptOf(state);
  if (nextAttemptAt > now) return { kind: "wait", until: nextAttemptAt, isBusy: false };
  const changesAt = state.changes_sent_at + CHANGES_EVERY_MS;
  const message = messages.find(({ type }) => type !== "work_items.changed" || changesAt <= now);
  return message === undefined ? { kind: "wait", until: changesAt, isBusy: false } : { kind: "send", message };
}

/** The state with a worker's claim. The worker must write it before it calls. */
export function claimed(state: EndpointState, by: string, now: number): EndpointState {
  return { ...state, claimed_by: by, busy_until: now + CLAIM_MS };
}

function withoutSent(state: EndpointState, { id, type, data }: WebhookMessage, webhook: string): EndpointState {
  const isStillDue = dueMessages(webhook, state).some((due) => due.id === id);
  return SENDERS[type].sent(state, data, isStillDue);
}

/** Whether the status is a 2xx. Redirects count as failures. */
export function isSuccess({ status = 0 }: Outcome): boolean {
  return status >= 200 && status < 300;
}

/** Milliseconds to wait after a failed attempt. @param attempts how many have failed @param chance random, from 0 to 1 */
function retryAfter(attempts: number, { retryAfterMs = 0, status }: Outcome, chance: number): number {
  const wait = RETRY_AFTER_MS[Math.min(attempts, RETRY_AFTER_MS.length) - 1] ?? HOUR_MS;
  const asked = status === 429 || status === 503 ? Math.min(retryAfterMs, RETRY_AFTER_MAX_MS) : 0;
  return Math.max(asked, wait >= HOUR_MS ? wait * (1 + JITTER * chance) : wait);
}

/** A call that has ended. */
export interface Delivered {
  readonly webhook: string;
  /** The claim under which the call was made, and the endpoint's generation at that time. */
  readonly by: string;
  readonly generation: number;
  readonly message: WebhookMessage;
  readonly outcome: Outcome;
}

/** The state after a call; undefined if another worker has claimed the endpoint since. */
export function delivered(
  state: EndpointState,
  { webhook, by, generation, message, outcome }: Delivered,
  now: number,
  chance: number,
): EndpointState | undefined {
  if (state.claimed_by !== by) return undefined;
  const { status, reason, milliseconds } = outcome;
  const { type, id } = message;
  const delivery = { at: now, type, id, status, reason, milliseconds };
  const released = {
    ...state,
    claimed_by: undefined,
    busy_until: 0,
    ...(type === "work_items.changed" && { changes_sent_at: now }),
    deliveries: [delivery, ...state.deliveries].slice(0, DELIVERIES_MAX),
  };
  // The call may have gone to the URL before: it says nothing about this one.
  if (state.generation !== generation) return released;
  // Only a test is sent before it.
  const greeted = { ...released, ...(type !== "webhook.test" && { greet_at: 0 }) };
  if (isSuccess(outcome)) {
    const after = {
      ...withoutSent(greeted, message, webhook),
      attempts: 0,
      next_attempt_at: 0,
      failing_since: undefined,
    };
    return dated(after, now);
  }
  // Tests come at any time: their failures say nothing about how long the endpoint has failed.
  if (type === "webhook.test") return greeted;
  const since = state.failing_since ?? now;
  const failing = { ...greeted, attempts: state.attempts + 1, failing_since: since };
  if (status === 410) return disabled(failing, "gone");
  if (now - since >= DISABLED_AFTER_MS) return disabled(failing, "failures");
  return { ...failing, next_attempt_at: now + Math.round(retryAfter(failing.attempts, outcome, chance)) };
}

/** Milliseconds after which an early message is sent again; undefined if another one is on its way. */
export function delayIfEarly({ until, isBusy }: NextStep & { readonly kind: "wait" }, now: number): number | undefined {
  return !isBusy && until - now <= EARLY_MS ? Math.max(0, until - now) : undefined;
}

/** Milliseconds after which to call an endpoint for its news; undefined if it is called anyway. */
export function delayAfterNews(
  webhook: string,
  before: EndpointState,
  after: EndpointState,
  now: number,
): number | undefined {
  // If something was due before, there is a message about it. If that was lost, the same news arrives again.
  if (isDue(before) && after !== before) return undefined;
  const step = nextStep(webhook, after, now);
  if (step.kind === "send") return 0;
  return step.kind === "wait" ? delayIfEarly(step, now) : undefined;
}

/** Milliseconds after a call until the next one; undefined if nothing is due, or the sweep takes care of it. */
export function delayAfterCall(webhook: string, state: EndpointState, now: number): number | undefined {
  const step = nextStep(webhook, state, now);
  if (step.kind === "rest") return undefined;
  const delay = step.kind === "wait" ? step.until - now : 0;
  return delay > DELAYED_MAX_MS ? undefined : delay;
}

/** When the sweep must check an endpoint; undefined if it needn't. */
export function checkAt(state: EndpointState): number | undefined {
  const { enabled, due_since: since } = state;
  return enabled && since !== undefined ? Math.max(since + SWEPT_AFTER_MS, nextAttemptOf(state)) : undefined;
}

/** Whether the last call of a failing endpoint got no response at all, less than a day after the first that failed. */
export function isUnreachable({ failing_since: since, deliveries: [last] }: EndpointState): boolean {
  if (since === undefined || last === undefined) return false;
  return last.status === undefined && last.at - since < UNREACHABLE_FOR_MS;
}
