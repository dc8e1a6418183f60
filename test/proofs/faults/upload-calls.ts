import { isDeepStrictEqual } from "node:util";
import { randomFrom } from "../../../infra/local/aws-terms/random.ts";
import { workItemId } from "../../../lib/identity.ts";
import { objectKeys } from "../../../lib/uploads/files/upload-objects.ts";
import { LEASE_MS } from "../../../lib/uploads/job/upload-record.ts";
import { multipart } from "../../support/uploads/multipart.ts";
import { s3Event } from "../../support/uploads/upload-harness.ts";
import { type ItemInput, type ModelItem, applyInput } from "../model/reference-item.ts";
import type { RouteName } from "../../support/handlers.ts";
import type { ApiRequest } from "../../support/organization.ts";
import type { Caller, ProofResponse, ProofService } from "../proof-service.ts";
import { type FaultyCalls, NO_RESPONSE } from "./faulty-calls.ts";
import type { FindingKind } from "./findings.ts";
import {
  type Content,
  contentOf,
  DELETED,
  expectedOf,
  FILE_KINDS,
  makeUploadFile,
  PATCHED,
  RESTORED,
} from "./upload-file.ts";

/** From this attempt on a call has no faults. */
const CALM_AFTER_ATTEMPTS = 4;
/** After so many failed deliveries the next one has no faults: jobs end. */
const FAILED_DELIVERIES_MAX = 12;
/** After so many deliveries whose worker was killed or frozen the next one is not: a job fails if none makes progress. */
const STOPPED_DELIVERIES_MAX = 3;
/** A job that needs more deliveries does not end. */
const STEPS_MAX = 2000;
/** Step at which a job is cancelled or gets a dead letter, at most. */
const INTERRUPTED_BEFORE_STEP = 12;
const ENDED = ["completed", "failed", "cancelled"];
const COUNTERS = [
  "succeeded_rows",
  "failed_rows",
  "created_rows",
  "updated_rows",
  "unchanged_rows",
  "restored_rows",
] as const;

type Job = Readonly<Record<(typeof COUNTERS)[number] | "total_rows", number>> & {
  readonly id: string;
  readonly status: string;
};
/** What a client knows of a job that it could not read. */
const NO_JOB = { id: "", status: "unknown", ...Object.fromEntries([...COUNTERS, "total_rows"].map((name) => [name, 0])) } as Job;
const dataOf = ({ body }: ProofResponse): unknown => (body as { readonly data?: unknown }).data;

/**
 * Uploads a file of one organization and runs its job to the end: messages come twice, late, out of order, at the same
 * time or not at all; workers are killed or frozen. Meanwhile a client polls the job, changes two of its items and
 * sometimes cancels it. Compares job, items and list of failed rows with what the file says.
 */
export const runUploadCalls = async (
  service: ProofService,
  caller: Caller,
  faulty: FaultyCalls,
  seed: number,
  report: (kind: FindingKind, details: unknown) => void,
): Promise<void> => {
  const { id: organization } = caller.organization;
  const random = randomFrom(seed);
  // Any three seeds in a row have every kind of file, and any four a dry run.
  const isDryRun = seed % 4 === 3;
  const end = isDryRun || random() < 0.7 ? "complete" : random() < 0.7 ? "cancel" : "dead letter";
  const file = makeUploadFile(random, FILE_KINDS[seed % FILE_KINDS.length]!, end === "complete");
  const interruptedAt = Math.floor(random() * INTERRUPTED_BEFORE_STEP);
  const queue: string[] = [];
  const onMessages = (bodies: readonly string[]): void => {
    queue.push(...bodies);
  };

  /** Calls until there is an answer. */
  const call = async (route: RouteName, request: ApiRequest): Promise<ProofResponse> => {
    for (let attempt = 1; ; attempt++) {
      service.clock.advance(1000);
      const mayFail = attempt < CALM_AFTER_ATTEMPTS;
      const response = await faulty.call(() => service.call(route, caller, request), { mayFail, onMessages });
      if (response !== NO_RESPONSE && (mayFail ? response.status !== 503 : true)) return response;
    }
  };
  const callItem = (route: RouteName, externalId: string, body?: unknown): Promise<ProofResponse> =>
    call(route, { params: { id: workItemId(organization, externalId) }, body });

  const applied = new Map<string, ModelItem>();
  const applyBefore = async (input: ItemInput): Promise<void> => {
    await service.call("applyWorkItemBatch", caller, { body: { work_items: [input] } });
    const params = { id: workItemId(organization, input.external_id) };
    await service.call("deleteWorkItem", caller, { params });
    applied.set(input.external_id, { ...applyInput(undefined, input, "").item, deleted: true });
  };
  await applyBefore({ external_id: RESTORED, agent_name: "Ann" });
  const expected = expectedOf(organization, file, [...applied.values()]);

  const request = multipart(file.text, { ...(file.mapping && { mapping: file.mapping }), dry_run: String(isDryRun) });
  const headers = { ...request.headers, "idempotency-key": "the upload" };
  const posted = await call("uploadWorkItems", { ...request, headers });
  if (posted.status !== 202) {
    report("wrong label", { posted });
    return;
  }
  const { id } = dataOf(posted) as Job;
  const params = { id };
  const job = { organization, id };
  for (const chance of [0.8, 0.3]) if (random() < chance) queue.push(JSON.stringify(s3Event(job)));

  let seen: Job | undefined;
  /** Checks that the counters never decrease, never pass the total, and stay once the job has ended. */
  const poll = async (): Promise<Job> => {
    const response = await call("getWorkItemUpload", { params });
    if (response.status !== 200) {
      report("wrong label", { response });
      return seen ?? NO_JOB;
    }
    const now = dataOf(response) as Job;
    const before = seen;
    if (before) {
      if (COUNTERS.some((name) => now[name] < before[name])) report("undone", { before, now });
      if (ENDED.includes(before.status) && !isDeepStrictEqual(now, before)) report("undone", { before, now });
    }
    if (now.succeeded_rows + now.failed_rows > now.total_rows) report("duplicated", { now });
    seen = now;
    return now;
  };

  const changes = new Map<string, Content | undefined>();
  /** A client changes two items once they are there. What it was told must stay. */
  const changeItems = async (): Promise<void> => {
    for (const name of [PATCHED, DELETED].filter((each) => !changes.has(each))) {
      const found = await callItem("getWorkItem", name);
      if (found.status !== 200) continue;
      const change = { work_item: { type: "changed by a client" } };
      const response =
        name === PATCHED ? await callItem("updateWorkItem", name, change) : await callItem("deleteWorkItem", name);
      if (response.status !== 200) report("wrong label", { name, response });
      changes.set(name, name === PATCHED ? { type: "changed by a client" } : undefined);
    }
  };

  /** Deliveries by message that failed, and of those that were stopped, since it was last handled. */
  const failures = new Map<string, { readonly failed: number; readonly stopped: number }>();
  const deliver = async (body: string, to: "workers" | "dead letters"): Promise<void> => {
    const name = /"part":\d+/.exec(body)?.[0] ?? "split";
    const { failed, stopped } = failures.get(name) ?? { failed: 0, stopped: 0 };
    const sent: string[] = [];
    const isHandled = await faulty.call(() => service.deliver(body, to), {
      mayFail: failed < FAILED_DELIVERIES_MAX,
      mayStop: stopped < STOPPED_DELIVERIES_MAX,
      onMessages: (bodies) => {
        sent.push(...bodies);
        onMessages(bodies);
      },
    });
    // A message that waits for the store is sent again as it was.
    if (isHandled === true && !sent.includes(body)) failures.delete(name);
    else failures.set(name, { failed: failed + 1, stopped: stopped + (isHandled === NO_RESPONSE ? 1 : 0) });
    // SQS delivers some messages again although they were handled.
    if (isHandled !== true || random() < 0.1) queue.push(body);
  };
  const take = (): string => queue.splice(Math.floor(random() * queue.length), 1)[0]!;

  const cancel = async (): Promise<void> => {
    // The endpoint waits for running workers by the clock.
    const ticking = setInterval(() => service.clock.advance(1000), 50);
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
    else if (end === "dead letter" && queue.length > 0) await deliver(take(), "dead letters");
  };

  let step = 0;
  const run = async (): Promise<void> => {
    for (; ; step++) {
      if (step > STEPS_MAX) return report("lost", { "does not end": seen });
      if (step === interruptedAt) await interrupt();
      const { status } = await poll();
      await changeItems();
      if (ENDED.includes(status) && queue.length === 0) return;
      if (queue.length === 0 || random() < 0.05) {
        service.clock.advance(2 * LEASE_MS);
        // A sweep that fails is followed by the next one.
        await faulty.call(() => service.sweep(), { mayFail: step % 4 !== 0, onMessages }).catch(() => undefined);
        if (queue.length === 0) service.clock.advance(2 * LEASE_MS);
      }
      if (random() < 0.2) service.clock.advance(Math.floor(random() * 2 * LEASE_MS));
      if (random() < 0.1) await faulty.thaw();
      const count = Math.min(queue.length, 1 + Math.floor(random() * 4));
      await Promise.all(Array.from({ length: count }, () => deliver(take(), "workers")));
    }
  };

  /** Compares the job and its items with the file. */
  const check = async (otherwise: FindingKind): Promise<void> => {
    const now = await poll();
    const isComplete = now.status === "completed";
    if (end === "complete" && !isComplete) report("lost", { end, now });
    const counters = Object.fromEntries(Object.keys(expected.counters).map((name) => [name, now[name as keyof Job]]));
    if (isComplete && !isDeepStrictEqual(counters, expected.counters)) {
      report("wrong label", { counters, expected: expected.counters });
    }
    let found = 0;
    for (const [name, content] of expected.content) {
      const response = await service.call("getWorkItem", caller, { params: { id: workItemId(organization, name) } });
      const isDeleted = changes.has(name) && changes.get(name) === undefined;
      const right = isDeleted || isDryRun ? undefined : { ...content, ...changes.get(name) };
      const actual = response.status === 200 ? contentOf(dataOf(response) as Content) : undefined;
      // Of the rows that were not counted when the job was stopped, some are applied, or only their items are.
      const isLeft = !isComplete && (actual === undefined || isDeepStrictEqual(actual, { ...right, events: {} }));
      if (isDeepStrictEqual(actual, right)) found += 1;
      else if (!isLeft) report(otherwise, { name, actual, expected: right });
    }
    if (!isComplete && found < now.succeeded_rows) report("lost", { found, now });
    const results = await call("getWorkItemUploadResults", { params });
    if (results.status !== 200) report("wrong label", { results });
    const { rows } = dataOf(await call("getWorkItemUploadFailedRows", { params })) as { readonly rows: number };
    const lines = (await service.readObject(objectKeys.report(job)))?.trimEnd().split(/\n(?=(?:often|once)-)/) ?? [""];
    const failed = lines.slice(1).map((line) => line.slice(0, line.indexOf(",")));
    if (rows !== now.failed_rows || failed.length !== rows) report("wrong label", { rows, failed, now });
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
