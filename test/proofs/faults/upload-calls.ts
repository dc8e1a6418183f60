import { isDeepStrictEqual } from "node:util";
import { randomFrom } from "../../support/random.ts";
import { workItemId } from "../../../lib/identity.ts";
import { CLAIM_MS } from "../../../lib/uploads/job/bucket-store.ts";
import { s3Event } from "../../support/uploads/upload-harness.ts";
import { DEFAULT_WINDOWS, randomSizes } from "../../support/uploads/upload-workers.ts";
import { type ModelItem, applyInput } from "../model/reference-item.ts";
import type { RouteName } from "../../support/handlers.ts";
import type { ApiRequest } from "../../support/organization.ts";
import type { Caller, ProofResponse, ProofService } from "../proof-service.ts";
import { type FaultyCalls, NO_RESPONSE } from "./faulty-calls.ts";
import type { FindingKind } from "./findings.ts";
import { createMinutes } from "./minutes.ts";
import { createUploadClient } from "./upload-client.ts";
import { type Content, contentIn, contentOf, expectedOf, FILE_KINDS, makeUploadFile } from "./upload-file.ts";
import { dataOf, ENDED, type Job, NO_JOB, requestUpload, ROW_COUNTERS } from "./upload-request.ts";
import { createWatch } from "./upload-watch.ts";

/** From this attempt on a call has no faults. */
const CALM_AFTER_ATTEMPTS = 4;
/** After so many failed deliveries the next one has no faults: jobs end. */
const FAILED_DELIVERIES_MAX = 12;
/** After so many deliveries whose worker was killed or frozen the next one is not: a job fails if none makes progress. */
const STOPPED_DELIVERIES_MAX = 3;
/** Claims in a row without progress after which a job's deliveries have no more faults; after three its file fails. */
const ATTEMPTS_MAX = 2;
/** A job that needs more deliveries does not end. */
const STEPS_MAX = 2000;
/** Step at which a job is cancelled, at most. */
const INTERRUPTED_BEFORE_STEP = 12;
/** Time until SQS delivers a message again whose worker was stopped: that of the queues in the template. */
const VISIBILITY_MS = 12 * 60_000;
/** Time from a form's request until its file is posted, at most: the form itself expires after a quarter of an hour. */
const FILE_WITHIN_MS = 14 * 60_000;
const LARGE_FILE_WITHIN_MS = 5 * 60 * 60_000;
/** Items that are read at the same time. */
const READ_AT_ONCE = 16;

/**
 * Uploads a file of one organization and runs its job to the end: messages come twice, late, out of order, at the same
 * time or not at all; workers are killed or frozen, and each cuts windows elsewhere. Meanwhile a client polls the job,
 * changes its items and sometimes cancels it. The sweep runs each minute of the clock. Compares job, items and list of
 * failed rows with what the file says.
 */
export const runUploadCalls = async (
  service: ProofService,
  caller: Caller,
  faulty: FaultyCalls,
  seed: number,
  report: (kind: FindingKind, details: unknown) => void,
): Promise<void> => {
  const { id: organization } = caller.organization;
  const { clock } = service;
  const random = randomFrom(seed);
  // Any three seeds in a row have every kind of file, any four a dry run, any five two forms, any seven a slow job.
  const isDryRun = seed % 4 === 3;
  const isForm = seed % 5 < 2;
  const isSlow = seed % 7 === 2;
  // Half of the forms are for the largest file, which may arrive hours later: looks at them are far apart by then.
  const isLarge = seed % 5 === 1 && !isSlow;
  const end = isDryRun || isSlow || random() < 0.7 ? "complete" : "cancel";
  const file = makeUploadFile(random, FILE_KINDS[seed % FILE_KINDS.length]!, end === "complete" && !isSlow, isSlow);
  const interruptedAt = Math.floor(random() * INTERRUPTED_BEFORE_STEP);
  const queue: string[] = [];
  /** Messages that come later, and when. */
  const late: { readonly body: string; readonly at: number }[] = [];
  const onMessages = (bodies: readonly string[]): void => {
    queue.push(...bodies);
  };

  /** Calls until there is an answer. */
  const call = async (route: RouteName, request: ApiRequest): Promise<ProofResponse> => {
    for (let attempt = 1; ; attempt++) {
      clock.advance(1000);
      const mayFail = attempt < CALM_AFTER_ATTEMPTS;
      const response = await faulty.call(() => service.call(route, caller, request), { mayFail, onMessages });
      if (response !== NO_RESPONSE && (mayFail ? response.status !== 503 : true)) return response;
    }
  };
  const callItem = (route: RouteName, externalId: string, body?: unknown): Promise<ProofResponse> =>
    call(route, {
      ...(route !== "applyWorkItemBatch" && { params: { id: workItemId(organization, externalId) } }),
      body,
    });

  /** The items that are there before the upload. */
  const before = new Map<string, ModelItem>();
  const existing = file.singles.filter(({ kind }) => kind !== "new");
  for (const { input, kind } of existing) {
    const { events: _events, ...fields } = input;
    await service.call("applyWorkItemBatch", caller, { body: { work_items: [fields] } });
    const params = { id: workItemId(organization, input.external_id) };
    if (kind === "gone") await service.call("deleteWorkItem", caller, { params });
    const { item } = applyInput(undefined, fields, "");
    before.set(input.external_id, { ...item, deleted: kind === "gone" });
  }
  const expected = expectedOf(organization, file, [...before.values()]);

  const client = createUploadClient(
    { organization, random, callItem, report: (details) => report("wrong label", details) },
    file,
    expected.items,
  );

  const { posted, id } = await requestUpload(call, file, { isDryRun, isForm, isLarge });
  if (id === undefined) {
    report("wrong label", { posted });
    return;
  }
  const params = { id };
  const job = { organization, id };

  let seen: Job | undefined;
  /** Checks that the counters never decrease, never pass the total, and stay once the job has ended. */
  const poll = async (): Promise<Job> => {
    const response = await call("getWorkItemUpload", { params });
    if (response.status !== 200) {
      report("wrong label", { response });
      return seen ?? NO_JOB;
    }
    const now = dataOf(response) as Job;
    const last = seen;
    if (last) {
      if (ROW_COUNTERS.some((name) => now[name] < last[name])) report("undone", { last, now });
      if (ENDED.includes(last.status) && !isDeepStrictEqual(now, last)) report("undone", { last, now });
    }
    if (now.succeeded_rows + now.failed_rows > now.total_rows) report("duplicated", { now });
    seen = now;
    return now;
  };

  let step = 0;
  let isCalm = false;
  const sweep = async (): Promise<void> => {
    // A sweep that fails is followed by the next one.
    const mayFail = !isCalm && !isSlow && step % 4 !== 0;
    const { faults } = faulty.count();
    await faulty.call(() => service.sweep(), { mayFail, onMessages }).catch(() => undefined);
    if (faulty.count().faults > faults) watch.onChange();
  };
  const minutes = createMinutes(clock, sweep);
  const watch = createWatch({ clock, faulty, isForm, lossesOf: () => service.lossesOf(job), report });

  if (isForm) {
    isCalm = true;
    await minutes.pass(Math.floor(random() * (isLarge ? LARGE_FILE_WITHIN_MS : FILE_WITHIN_MS)));
    await service.postFile(job, file.text);
    isCalm = false;
    watch.onPosted();
  }
  // S3's events come twice, late or not at all. A second one would wake a job whose checks are far apart.
  for (const chance of isLarge ? [0.9] : [0.5, 0.3]) if (random() < chance) queue.push(JSON.stringify(s3Event(job)));
  if (random() < 0.3) late.push({ body: JSON.stringify(s3Event(job)), at: clock() + random() * 20 * 60_000 });

  /** Deliveries by message that failed, and of those that were stopped, since it was last handled. */
  const failures = new Map<string, { readonly failed: number; readonly stopped: number }>();
  const deliver = async (body: string): Promise<void> => {
    const name = /"bucket":\d+/.exec(body)?.[0] ?? "split";
    const { failed, stopped } = failures.get(name) ?? { failed: 0, stopped: 0 };
    const sent: string[] = [];
    const sizes = isSlow ? DEFAULT_WINDOWS : randomSizes(random);
    // Workers that all die without progress end their job, as documented: not so many are stopped in a row.
    const isExhausted = (await service.lossesOf(job)) >= ATTEMPTS_MAX;
    // Without a worker and a message, a job whose file came late is found by its next check alone.
    const isFatal = isLarge && failed === 0;
    const isHandled = await faulty.call(() => service.deliver(body, sizes), {
      mayFail: failed < FAILED_DELIVERIES_MAX && !isExhausted,
      mayStop: stopped < STOPPED_DELIVERIES_MAX && !isExhausted,
      isFatal,
      isSlow,
      onMessages: (bodies) => {
        sent.push(...bodies);
        onMessages(bodies);
      },
    });
    watch.onChange();
    // A message that waits for the store is sent again as it was.
    if (isHandled === true && !sent.includes(body)) failures.delete(name);
    else failures.set(name, { failed: failed + 1, stopped: stopped + (isHandled === NO_RESPONSE ? 1 : 0) });
    if (isHandled === NO_RESPONSE && (isFatal || random() < 0.5)) late.push({ body, at: clock() + VISIBILITY_MS });
    // SQS delivers some messages again although they were handled.
    else if (isHandled !== true || (!isSlow && random() < 0.1)) queue.push(body);
  };
  const take = (): string => queue.splice(Math.floor(random() * queue.length), 1)[0]!;

  const cancel = async (): Promise<void> => {
    // The endpoint waits for running workers by the clock.
    const ticking = setInterval(() => clock.advance(1000), 50);
    const response = await call("cancelWorkItemUpload", { params });
    clearInterval(ticking);
    if (
      response.status === 200
        ? !["processing", "cancelled", "pending"].includes((dataOf(response) as Job).status)
        : response.status !== 409
    ) {
      report("wrong label", { cancelled: response });
    }
  };
  const interrupt = async (): Promise<void> => {
    if (end === "cancel") await cancel();
  };
  const receiveLate = (): void => {
    for (const message of late.filter(({ at }) => at <= clock())) {
      late.splice(late.indexOf(message), 1);
      queue.push(message.body);
    }
  };

  const run = async (): Promise<void> => {
    for (; ; step++) {
      if (step > STEPS_MAX) return report("lost", { "does not end": seen });
      if (step === interruptedAt) await interrupt();
      const now = await poll();
      if (!isDryRun) await client.change();
      await minutes.catchUp();
      const hasEnded = ENDED.includes(now.status);
      if (hasEnded) queue.push(...late.splice(0).map(({ body }) => body));
      if (hasEnded && queue.length === 0) return;
      receiveLate();
      if (!hasEnded) await watch.look(now, queue.length > 0);
      if (!hasEnded && isSlow && watch.hasStopped()) return report("lost", { "saves nothing and does not end": now });
      // Without a message only the sweep can continue the job.
      isCalm = queue.length === 0;
      if (queue.length === 0) await minutes.pass(CLAIM_MS);
      isCalm = false;
      if (!isSlow && random() < 0.2) await minutes.pass(Math.floor(random() * 2 * CLAIM_MS));
      if (random() < 0.1) await faulty.thaw();
      const count = Math.min(queue.length, isSlow ? 1 : 1 + Math.floor(random() * 4));
      await Promise.all(Array.from({ length: count }, () => deliver(take())));
    }
  };

  const contentNow = async (name: string): Promise<Content | undefined> => {
    const response = await service.call("getWorkItem", caller, { params: { id: workItemId(organization, name) } });
    return response.status === 200 ? contentOf(dataOf(response) as Content) : undefined;
  };
  /** What an item must be: as the client has left it, or as the file has made it. */
  const rightFor = (name: string): Content | undefined => {
    const state = client.states.get(name) ?? (isDryRun ? before.get(name) : expected.items.get(name));
    return state === undefined || state.deleted ? undefined : contentIn(organization, state);
  };
  /** Compares the job and its items with the file. */
  const check = async (otherwise: FindingKind): Promise<void> => {
    const now = await poll();
    const isComplete = now.status === "completed";
    // A cancellation that comes too late races with the end, by a clock that it makes fast: lists may be cut short.
    if (isComplete && end === "complete" && now.error !== undefined) report("wrong label", { now });
    if (end === "complete" && !isComplete && !(isSlow && watch.mayFail(now))) report("lost", { end, now });
    const counters = Object.fromEntries(Object.keys(expected.counters).map((name) => [name, now[name as keyof Job]]));
    if (isComplete && !isDeepStrictEqual(counters, expected.counters)) {
      report("wrong label", { counters, expected: expected.counters });
    }
    let found = 0;
    const names = [...expected.items.keys()];
    while (names.length > 0) {
      const some = names.splice(0, READ_AT_ONCE);
      const contents = await Promise.all(some.map(contentNow));
      for (const [index, name] of some.entries()) {
        const actual = contents[index];
        const right = rightFor(name);
        // Of the rows that were not counted when the job was stopped, some are applied, or only their items are.
        const isLeft = !isComplete && (actual === undefined || isDeepStrictEqual(actual, { ...right, events: {} }));
        if (isDeepStrictEqual(actual, right)) found += 1;
        else if (!isLeft) report(otherwise, { name, actual, expected: right });
      }
    }
    if (!isComplete && found < now.succeeded_rows) report("lost", { found, now });
    const results = await call("getWorkItemUploadResults", { params });
    if (results.status !== 200) report("wrong label", { results });
    const list = await call("getWorkItemUploadFailedRows", { params });
    if (list.status !== 200) return report("wrong label", { list });
    const { rows } = dataOf(list) as { readonly rows: number };
    const lines = (await service.readList(job, "failed_rows"))
      ?.trimEnd()
      .split(/\n(?=(?:often|once|new|gone|kept)-)/) ?? [""];
    const failed = lines.slice(1).map((line) => line.slice(0, line.indexOf(",")));
    if (rows !== now.failed_rows || failed.length !== rows) report("wrong label", { rows, failed, now });
    const listed = (await service.readList(job, "results"))?.match(/^\d+,/gm)?.length ?? 0;
    if (listed !== now.succeeded_rows + now.failed_rows) report("wrong label", { listed, now });
    if (isComplete && !isDeepStrictEqual(failed, expected.failed))
      report("wrong label", { failed, expected: expected.failed });
  };

  await run();
  await check("lost");
  if (!(await faulty.thaw())) return;
  // Workers that were frozen have gone on long after the end, and have sent messages.
  await run();
  await check("undone");
};
