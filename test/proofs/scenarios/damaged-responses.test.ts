import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { create as createRecordConversationUpload } from "../../../functions/record-conversation-upload.ts";
import { create as createRecordQaScore } from "../../../functions/record-qa-score.ts";
import { routes } from "../../../functions/routes.ts";
import { isUnavailable } from "../../../lib/aws/error-codes.ts";
import { type Caller, createCaller } from "../../support/caller.ts";
import { createTestClock } from "../../support/clock.ts";
import { DAMAGED_RESPONSES } from "../../support/damaged-responses.ts";
import { type Fault, injectFaults } from "../../support/faults.ts";
import type { RouteName } from "../../support/handlers.ts";
import { type ApiRequest, createTestOrganization } from "../../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";
import { multipart } from "../../support/uploads/multipart.ts";
import { createUploadService, dataOf, MINUTE_MS } from "../../support/uploads/upload-service.ts";

/** Each damaged request moves the clock, so that calls do not repeat theirs for 20 s. */
const REQUEST_MS = 2000;

/** The client treats 500, 502 and 504 as it treats 503. */
const KINDS = DAMAGED_RESPONSES.filter((kind) => !/50[024]/.test(kind));

const clock = createTestClock();
let runtime: TestRuntime;
let organization: string;
let key: string;
beforeAll(async () => {
  runtime = await createTestRuntime({ clock });
});
// A new organization each time: one may have a hundred open jobs.
beforeEach(async () => {
  const owner = await createTestOrganization(runtime);
  organization = owner.organization.id;
  key = owner.key;
});

/** Sends a request to a new instance of its function, which has cached nothing. */
const send: Caller = (name, request) => createCaller(runtime, key)(name, request);
const idIn = ({ body }: { readonly body: { readonly data: { readonly id: string } } }): string => body.data.id;

interface Call {
  readonly name: RouteName;
  readonly request?: ApiRequest;
}

/** A call of every endpoint that reads or writes, on resources of their own. All may be repeated. */
const callsOnNewResources = async (): Promise<Readonly<Record<string, Call>>> => {
  const newItem = async () => {
    const work_item = { external_id: randomUUID(), events: [{ external_id: "e" }] };
    return idIn(await send("createWorkItem", { body: { work_item } }));
  };
  const newJob = async () => idIn(await send("uploadWorkItems", { body: { upload: { filename: "a.csv", size: 10 } } }));
  const recorded = createRecordConversationUpload(runtime);
  const conversation = await recorded({ organization, external_id: randomUUID(), status: "pending", source: "x" });
  const ofItem = async () => ({ params: { id: await newItem() } });
  const ofJob = async () => ({ params: { id: await newJob() } });
  const once = () => ({ "Idempotency-Key": randomUUID() });
  const file = multipart("external_id\nA\n");
  return {
    get: { name: "getWorkItem", request: await ofItem() },
    list: { name: "listWorkItems" },
    "list by external_id": { name: "listWorkItems", request: { query: { external_id: "a" } } },
    events: { name: "listWorkItemEvents", request: await ofItem() },
    batch: { name: "applyWorkItemBatch", request: { body: { work_items: [{ external_id: randomUUID() }] } } },
    create: {
      name: "createWorkItem",
      request: { body: { work_item: { external_id: randomUUID() } }, headers: once() },
    },
    patch: { name: "updateWorkItem", request: { ...(await ofItem()), body: { work_item: { type: "t" } } } },
    delete: { name: "deleteWorkItem", request: await ofItem() },
    event: { name: "upsertWorkItemEvent", request: { ...(await ofItem()), body: { event: { external_id: "f" } } } },
    upload: { name: "uploadWorkItems", request: { ...file, headers: { ...file.headers, ...once() } } },
    form: {
      name: "uploadWorkItems",
      request: { body: { upload: { filename: "b.csv", size: 1 } }, headers: once() },
    },
    "get job": { name: "getWorkItemUpload", request: await ofJob() },
    "list jobs": { name: "listWorkItemUploads" },
    "cancel job": { name: "cancelWorkItemUpload", request: await ofJob() },
    "failed rows": { name: "getWorkItemUploadFailedRows", request: await ofJob() },
    results: { name: "getWorkItemUploadResults", request: await ofJob() },
    "get conversation": { name: "getConversationUpload", request: { params: { id: conversation.id } } },
    "list conversations": { name: "listConversationUploads" },
  };
};

interface Outcome {
  readonly status: number;
  readonly retryAfter?: string | undefined;
}

/** Makes all calls at the same time. @returns for each, its status and whether the response says when to retry */
const outcomesOf = async (calls: Readonly<Record<string, Call>>): Promise<Record<string, Outcome>> => {
  const made = Object.entries(calls).map(async ([title, { name, request }]) => {
    const { status, headers } = await send(name, request);
    return [title, status === 503 ? { status, retryAfter: headers["retry-after"] } : { status }] as const;
  });
  return Object.fromEntries(await Promise.all(made));
};

const isRead = ({ name }: Call): boolean => routes[name].method === "GET";
const busy = { status: 503, retryAfter: "1" };
const allOf = <T>(calls: Readonly<Record<string, Call>>, expected: (call: Call, title: string) => T) =>
  Object.fromEntries(Object.entries(calls).map(([title, each]) => [title, expected(each, title)]));
const successOf = ({ name }: Call): { status: number } => ({ status: routes[name].status });

type IsDamaged = (command: string, table: unknown) => boolean;
const isOfAccess: IsDamaged = (_, table) => table === runtime.environment.ACCESS_TABLE;
const isOfOthers: IsDamaged = (command, table) => !isOfAccess(command, table);
const isWrite: IsDamaged = (command) => !/^(Get|BatchGet|Query)/.test(command);
const damageDynamoDb = (kind: Fault, isDamaged: IsDamaged) =>
  injectFaults(runtime.dynamodb, (command, input) => {
    if (!isDamaged(command, input["TableName"])) return "none";
    clock.advance(REQUEST_MS);
    return kind;
  });

describe("if DynamoDB's responses are damaged", () => {
  it.each(DAMAGED_RESPONSES)(
    "every endpoint responds with 503, and the call succeeds when it is repeated: %s",
    async (kind) => {
      const calls = await callsOnNewResources();
      const stop = damageDynamoDb(kind, isOfOthers);
      const outcomes = await outcomesOf(calls).finally(stop);
      expect(outcomes).toEqual(allOf(calls, () => busy));
      expect(await outcomesOf(calls)).toEqual(allOf(calls, successOf));
    },
  );

  it.each(KINDS)(
    "to writes alone, an endpoint responds with 503 unless it can read that its write was carried out: %s",
    async (kind) => {
      const calls = await callsOnNewResources();
      const stop = damageDynamoDb(kind, isWrite);
      const outcomes = await outcomesOf(calls).finally(stop);
      const wasWritten = kind.endsWith("after");
      for (const [title, each] of Object.entries(calls)) {
        expect([busy, ...(wasWritten || isRead(each) ? [successOf(each)] : [])], title).toContainEqual(outcomes[title]);
      }
      const { event, ...others } = await outcomesOf(calls);
      const { event: _event, ...expected } = allOf(calls, successOf);
      expect(others).toEqual(expected);
      // All calls share the clock: the time of this one may have been over before it sent its first write.
      expect(wasWritten ? [200, 201] : [201]).toContain(event?.status);
    },
  );
});

describe("authentication", () => {
  it.each(DAMAGED_RESPONSES)("is 503, and no 401, if its table's responses are damaged: %s", async (kind) => {
    const stop = damageDynamoDb(kind, isOfAccess);
    const callInstance = createCaller(runtime, key);
    const refused = await callInstance("listWorkItems").finally(stop);
    expect(refused).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    // The same instance: it has not remembered the key as an unknown one.
    expect((await callInstance("listWorkItems")).status).toBe(200);
  });
});

describe("an internal function", () => {
  const functions = {
    "record-qa-score": async () => {
      const external_id = randomUUID();
      await send("createWorkItem", { body: { work_item: { external_id } } });
      return () => createRecordQaScore(runtime)({ organization, external_id, qa_score: 0.5 });
    },
    "record-conversation-upload": async () => {
      const payload = { organization, external_id: randomUUID(), status: "pending", source: "x" };
      return () => createRecordConversationUpload(runtime)(payload);
    },
  };
  it.each(
    Object.entries(functions).flatMap(([name, arrange]) =>
      ["html 200 before", "html 503 after", "empty 200 after", "truncated after", "cut after"].map(
        (kind) => [name, kind as Fault, arrange] as const,
      ),
    ),
  )("%s fails as an outage, and succeeds when it is repeated: %s", async (_name, kind, arrange) => {
    const record = await arrange();
    for (const isDamaged of [isOfAccess, isOfOthers]) {
      const stop = damageDynamoDb(kind, isDamaged);
      const error = await record()
        .catch((thrown: unknown) => thrown)
        .finally(stop);
      expect(isUnavailable(error)).toBe(true);
    }
    expect(await record()).toMatchObject({ id: expect.any(String) });
  });
});

describe("an upload", () => {
  it.each(KINDS.filter((kind) => /^(html|empty)/.test(kind)))(
    "responds with 503 if S3's responses are damaged, and to a retry with the job, which completes: %s",
    async (kind) => {
      const uploads = await createUploadService();
      const post = () => uploads.post("external_id\nA\n", {}, { "Idempotency-Key": "1" });
      const stop = injectFaults(uploads.runtime.s3, () => kind);
      const refused = await post().finally(stop);
      expect(refused).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
      const { id } = dataOf(await post());
      const { data: jobs } = await uploads.list();
      expect(jobs.map((job) => job.id)).toEqual([id]);
      await uploads.split(id);
      await uploads.harness.drain();
      expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 1 });
    },
  );

  const phases = ["read", "applied"] as const;
  it.each(KINDS.flatMap((kind) => phases.map((phase) => [phase, kind] as const)))(
    "is applied in full if DynamoDB and S3 fail for a minute while it is %s: %s",
    async (phase, kind) => {
      const uploads = await createUploadService();
      const rows = 40;
      const ids = Array.from({ length: rows }, (_, row) => `row-${row}\n`).join("");
      const { id } = dataOf(await uploads.post(`external_id\n${ids}`));
      if (phase === "applied") await uploads.split(id);
      const until = uploads.clock() + MINUTE_MS;
      let damaged = 0;
      const decide = (): Fault => {
        if (uploads.clock() >= until) return "none";
        uploads.clock.advance(REQUEST_MS);
        damaged++;
        return kind;
      };
      injectFaults(uploads.runtime.dynamodb, decide);
      injectFaults(uploads.runtime.s3, decide);
      if (phase === "read") await uploads.split(id);
      await uploads.harness.drain();
      for (let minute = 0; minute < 5; minute++) {
        uploads.clock.advance(MINUTE_MS);
        await uploads.sweep();
        await uploads.harness.drain();
      }
      expect(damaged).toBeGreaterThan(0);
      expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: rows, failed_rows: 0 });
    },
  );
});
