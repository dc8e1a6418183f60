import { conversationUploadId, workItemEventId, workItemId } from "../../../lib/identity.ts";
import {
  applyEvent,
  applyInput,
  applyFields,
  type EventInput,
  type ItemInput,
  type ModelItem,
  type Outcome,
  showEvent,
  showItem,
} from "./reference-item.ts";

/** The response that the service should give. The messages of errors are not part of the model. */
export interface Expected {
  readonly status: number;
  readonly body?: unknown;
  /** The version that the `ETag` should begin with. */
  readonly version?: number;
}

/** Filters of the list of items. Times are in UTC with milliseconds. */
export interface ModelFilters {
  readonly external_id?: string;
  readonly agent_external_id?: string;
  readonly agent_email?: string;
  readonly type?: string;
  readonly status?: string;
  readonly completed_from?: string;
  readonly completed_to?: string;
}

/** A row of a file: an input, or a row that is not valid. */
export type ModelRow = ItemInput | "invalid";

const COUNTERS = ["total_rows", "succeeded_rows", "failed_rows"] as const;
const OUTCOME_COUNTERS = ["created_rows", "updated_rows", "unchanged_rows", "restored_rows"] as const;
type RowCounts = Record<(typeof COUNTERS)[number] | (typeof OUTCOME_COUNTERS)[number], number>;

interface ModelJob extends RowCounts {
  readonly id: string;
  status: "pending" | "completed" | "cancelled";
  readonly created_at: string;
  updated_at: string;
}

interface ModelConversation {
  readonly status: string;
  readonly source: string;
  readonly created_at: string;
  readonly updated_at: string;
}

const error = (status: number): Expected => ({ status });
const newestFirst = (a: string, b: string): number => (a < b ? 1 : a > b ? -1 : 0);

/** What one organization has, and how the service should answer its calls, written from docs/reference. */
export class ReferenceOrganization {
  readonly id: string;
  readonly items = new Map<string, ModelItem>();
  private readonly jobs = new Map<string, ModelJob>();
  private readonly conversations = new Map<string, ModelConversation>();

  constructor(id: string) {
    this.id = id;
  }

  private idOf(externalId: string): string {
    return workItemId(this.id, externalId);
  }
  private visible(id: string): ModelItem | undefined {
    const item = [...this.items.values()].find(({ external_id }) => this.idOf(external_id) === id);
    return item?.deleted === false ? item : undefined;
  }
  private known(id: string): ModelItem | undefined {
    return [...this.items.values()].find(({ external_id }) => this.idOf(external_id) === id);
  }
  private save(item: ModelItem): void {
    this.items.set(item.external_id, item);
  }

  private withEvents(status: number, item: ModelItem): Expected {
    const id = this.idOf(item.external_id);
    const events = Object.values(item.events)
      .map((event) => showEvent(workItemEventId(id, event.external_id), event))
      .map((event) => ({ event, order: `${event.occurred_at ?? "~"} ${event.created_at} ${event.id}` }))
      .toSorted((a, b) => newestFirst(b.order, a.order))
      .map(({ event }) => event);
    return { status, body: { data: { ...showItem(id, item), events } }, version: item.version };
  }

  create(input: ItemInput, key: string | undefined, now: string): Expected {
    const existing = this.items.get(input.external_id);
    const body = JSON.stringify(input);
    if (existing === undefined) {
      const { item } = applyInput(undefined, input, now);
      const made: ModelItem = { ...item, ...(key !== undefined && { createKey: { key, body } }) };
      this.save(made);
      return this.withEvents(201, made);
    }
    if (key === undefined || existing.createKey?.key !== key) return error(409);
    if (existing.createKey.body !== body) return error(422);
    return existing.deleted ? error(409) : this.withEvents(201, existing);
  }

  /** Inputs with the same external_id are applied in order, and written once. */
  batch(inputs: readonly ItemInput[], dryRun: boolean, now: string): Expected {
    const after = new Map(this.items);
    const summary = { total: inputs.length, created: 0, updated: 0, unchanged: 0, restored: 0, error: 0 };
    const results = inputs.map((input, index) => {
      const { outcome, item } = applyInput(after.get(input.external_id), input, now);
      after.set(input.external_id, item);
      summary[outcome] += 1;
      const data = showItem(this.idOf(input.external_id), item);
      return { index, external_id: input.external_id, status: outcome, data, error: null };
    });
    if (!dryRun) this.saveOnce(after);
    return { status: 200, body: { data: { dry_run: dryRun, summary, results } } };
  }
  private saveOnce(after: ReadonlyMap<string, ModelItem>): void {
    for (const [externalId, item] of after) {
      const before = this.items.get(externalId)?.version ?? 0;
      this.save({ ...item, version: item.version > before ? before + 1 : before });
    }
  }

  /** @param ifMatch version in `If-Match` */
  patch(id: string, changes: Omit<ItemInput, "external_id" | "events">, ifMatch: number | undefined, now: string) {
    const before = this.visible(id);
    if (before === undefined) return error(404);
    if (ifMatch !== undefined && ifMatch !== before.version) return error(412);
    const { item } = applyFields(before, { ...changes, external_id: before.external_id }, now);
    this.save(item);
    return this.withEvents(200, item);
  }

  remove(id: string, ifMatch: number | undefined, now: string): Expected {
    const before = this.known(id);
    if (before === undefined) return error(404);
    if (!before.deleted) {
      if (ifMatch !== undefined && ifMatch !== before.version) return error(412);
      this.save({ ...before, deleted: true, updated_at: now, version: before.version + 1 });
    }
    return { status: 200, body: { data: { id, deleted: true } } };
  }

  get(id: string): Expected {
    const item = this.visible(id);
    return item === undefined ? error(404) : this.withEvents(200, item);
  }

  event(id: string, input: EventInput, now: string): Expected {
    const before = this.visible(id);
    if (before === undefined) return error(404);
    const { outcome, item, event } = applyEvent(before, input, now);
    this.save(item);
    return {
      status: outcome === "created" ? 201 : 200,
      body: { data: showEvent(workItemEventId(id, input.external_id), event) },
    };
  }

  /** All items of the list, in order. */
  list(filters: ModelFilters): readonly unknown[] {
    const { completed_from: from, completed_to: to, ...equal } = filters;
    const placeOf = (item: ModelItem): string =>
      item.completed_at === null ? `1 ${item.created_at}` : `2 ${item.completed_at}`;
    return [...this.items.values()]
      .filter((item) => !item.deleted)
      .filter((item) => Object.entries(equal).every(([name, value]) => item[name as keyof typeof equal] === value))
      .filter(({ completed_at: at }) => from === undefined || (at !== null && at >= from))
      .filter(({ completed_at: at }) => to === undefined || (at !== null && at < to))
      .map((item) => showItem(this.idOf(item.external_id), item))
      .map((shown) => ({ shown, place: `${placeOf(this.items.get(shown.external_id)!)} ${shown.id}` }))
      .toSorted((a, b) => newestFirst(a.place, b.place))
      .map(({ shown }) => shown);
  }

  recordQaScore(externalId: string, score: number | null, now: string): boolean {
    const item = this.items.get(externalId);
    if (item === undefined || item.deleted) return false;
    if (item.qa_score !== score) this.save({ ...item, qa_score: score, updated_at: now, version: item.version + 1 });
    return true;
  }

  upload(jobId: string, now: string): Expected {
    const job: ModelJob = {
      id: jobId,
      status: "pending",
      total_rows: 0,
      succeeded_rows: 0,
      failed_rows: 0,
      created_rows: 0,
      updated_rows: 0,
      unchanged_rows: 0,
      restored_rows: 0,
      created_at: now,
      updated_at: now,
    };
    this.jobs.set(jobId, job);
    return { status: 202, body: { data: { ...job } } };
  }

  /** Applies the rows of a job that was not cancelled. */
  process(jobId: string, rows: readonly ModelRow[], now: string): void {
    const job = this.jobs.get(jobId);
    if (job?.status !== "pending") return;
    const after = new Map(this.items);
    for (const row of rows) {
      job.total_rows += 1;
      if (row === "invalid") {
        job.failed_rows += 1;
        continue;
      }
      const { outcome, item } = applyInput(after.get(row.external_id), row, now);
      after.set(row.external_id, item);
      job.succeeded_rows += 1;
      job[`${outcome satisfies Outcome}_rows`] += 1;
    }
    this.saveOnce(after);
    job.status = "completed";
    job.updated_at = now;
  }

  cancel(jobId: string, now: string): Expected {
    const job = this.jobs.get(jobId);
    if (job === undefined) return error(404);
    if (job.status === "completed") return error(409);
    if (job.status === "pending") Object.assign(job, { status: "cancelled", updated_at: now });
    return { status: 200, body: { data: { ...job } } };
  }

  getJob(jobId: string): Expected {
    const job = this.jobs.get(jobId);
    return job === undefined ? error(404) : { status: 200, body: { data: { ...job } } };
  }

  listJobs(status: string | undefined): readonly unknown[] {
    return [...this.jobs.values()]
      .filter((job) => status === undefined || job.status === status)
      .toSorted((a, b) => newestFirst(`${a.created_at}#${a.id}`, `${b.created_at}#${b.id}`))
      .map((job) => ({ ...job }));
  }

  recordConversation(externalId: string, status: string, source: string, now: string): void {
    const before = this.conversations.get(externalId);
    if (before?.status === status && before.source === source) return;
    this.conversations.set(externalId, { status, source, created_at: before?.created_at ?? now, updated_at: now });
  }
  conversation(id: string): Expected {
    const found = this.listConversations(undefined).find((each) => each.id === id);
    if (found === undefined) return error(404);
    const { status, created_at, updated_at } = found;
    return { status: 200, body: { data: { id, status, created_at, updated_at } } };
  }
  listConversations(externalId: string | undefined) {
    return [...this.conversations]
      .filter(([name]) => externalId === undefined || name === externalId)
      .map(([external_id, conversation]) => ({
        id: conversationUploadId(this.id, external_id),
        external_id,
        ...conversation,
      }))
      .toSorted((a, b) => newestFirst(`${a.created_at}#${a.id}`, `${b.created_at}#${b.id}`));
  }
}
