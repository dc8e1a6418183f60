import * as fc from "fast-check";
import { create as createRecordConversation } from "../../../functions/record-conversation-upload.ts";
import { routes } from "../../../functions/routes.ts";
import type { Route } from "../../../lib/http/route.ts";
import { isObject } from "../../../infra/openapi/schema-form.ts";
import type { ApiResponse } from "../../support/organization.ts";
import { createUploadService } from "../../support/uploads/upload-service.ts";
import { expectationOf, isBeyondSchemas } from "./expectation.ts";
import { anyMutation, type Mutation, mutateDescribed, mutateWire } from "./mutations.ts";
import { type DescribedRequest, describedRequest } from "./requests.ts";
import { type Known, remember, roomOf, toApiRequest, toWire, type WireRequest } from "./wire.ts";

/** What a run has sent. */
export interface FuzzReport {
  requests: number;
  readonly statuses: Record<string, number>;
  /** Requests that are as the document says, and those that are not. */
  accepted: number;
  refused: number;
  jobs: number;
}

interface Step {
  readonly request: DescribedRequest;
  readonly mutations: readonly Mutation[];
}

const step: fc.Arbitrary<Step> = fc.record({
  request: describedRequest,
  mutations: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 5, arbitrary: fc.array(anyMutation, { minLength: 1, maxLength: 2 }) },
  ),
});

/** Statuses of requests that the service does not understand or does not take. */
const REFUSALS = [400, 401, 413, 415, 422];
/** Milliseconds between two requests, so that no limit is met but by chance. */
const PAUSE_MS = 20;
/** Steps that are made at a time: a sample is an array. */
const SAMPLE = 500;
/** Requests at the same time, since they mostly wait for the engine. Each lane has an organization and a clock of its own. */
const LANES = 4;
const SEEDS_PER_LANE = 100_000_000;

const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value);

/** Keeps what the response names, for later requests. */
const learn = (known: Known, { name, id }: WireRequest, { headers, body }: ApiResponse<unknown>): void => {
  const data = at(body, "data");
  const results = at(data, "results");
  const named = [
    ...(Array.isArray(data) ? data : [data]).map((each) => at(each, "id")),
    ...(Array.isArray(results) ? results : []).map((each) => at(each, "data", "id")),
  ];
  const isEvent = name === "upsertWorkItemEvent" || name === "listWorkItemEvents";
  for (const each of isEvent ? [] : named) if (typeof each === "string") remember(known, roomOf(name), each);
  const cursor = at(body, "meta", "page", "next");
  if (typeof cursor === "string") known.cursors[name] = cursor;
  if (id !== undefined && headers["etag"] !== undefined) known.tags[id] = headers["etag"];
};

const problemsIn = (body: unknown) =>
  (at(body, "errors") ?? []) as readonly { pointer?: string; parameter?: string; message: string }[];

/** @returns what is wrong with the response; undefined if nothing is */
const fault = (wire: WireRequest, { status, body }: ApiResponse<unknown>, report: FuzzReport): string | undefined => {
  if (status >= 500) return `status ${status}`;
  const expectation = expectationOf(wire);
  if (expectation === "refused") {
    report.refused += 1;
    if (status < 400) return `status ${status} to a request that the document does not allow`;
  }
  if (expectation === "accepted") {
    report.accepted += 1;
    if (!REFUSALS.includes(status)) return undefined;
    if (status !== 422) return `status ${status} to a request that the document allows`;
    const told = problemsIn(body).filter((problem) => !isBeyondSchemas(problem));
    if (told.length > 0) return `a request that the document allows is refused: ${JSON.stringify(told)}`;
  }
  return undefined;
};

const printable = ({ body, ...request }: WireRequest): string =>
  JSON.stringify({ ...request, body: body?.toString("latin1").slice(0, 2000) });

/** Sends one step after the other to a service of its own. @throws Error that names the first fault */
const runLane = async (requests: number, seed: number, report: FuzzReport): Promise<void> => {
  const uploads = await createUploadService();
  const recordConversation = createRecordConversation(uploads.runtime);
  const known: Known = { ids: {}, cursors: {}, tags: {} };
  for (const external_id of ["call-1", "call-2"]) {
    const conversation = { external_id, source: "telephone", status: "pending" };
    const { id } = await recordConversation({ organization: uploads.organization.id, ...conversation });
    remember(known, roomOf("getConversationUpload"), id);
  }

  const send = async ({ request, mutations }: Step): Promise<void> => {
    const wire = mutations.reduce(mutateWire, toWire(mutations.reduce(mutateDescribed, request), known));
    uploads.clock.advance(PAUSE_MS);
    const response = await uploads.call(wire.name, toApiRequest(wire));
    report.requests += 1;
    report.statuses[response.status] = (report.statuses[response.status] ?? 0) + 1;
    const problem = fault(wire, response, report);
    if (problem !== undefined) throw new Error(`${problem}\n${JSON.stringify(response.body)}\n${printable(wire)}`);
    learn(known, wire, response);
    const job = at(response.body, "data", "id");
    if (wire.name !== "uploadWorkItems" || response.status !== 202 || typeof job !== "string") return;
    report.jobs += 1;
    const isForm = at(response.body, "meta", "upload") !== undefined;
    if (isForm) return void (await uploads.cancel(job));
    const { status } = await uploads.finish(job);
    if (!["completed", "failed"].includes(status)) throw new Error(`the job ${job} is ${status}`);
    await uploads.failedRows(job);
  };

  for (let from = 0; from < requests; from += SAMPLE) {
    const steps = fc.sample(step, { numRuns: Math.min(SAMPLE, requests - from), seed: seed + from });
    for (const [index, each] of steps.entries()) {
      try {
        await send(each);
      } catch (error) {
        const { method, path }: Route = routes[each.request.name];
        const place = `request ${from + index + 1} of seed ${seed}, ${method} ${path}`;
        throw new Error(`${place}: ${String(error)}`, { cause: error });
      }
    }
  }
};

/**
 * Sends requests that are made from the OpenAPI document, most of them with faults. Each response must be as the document
 * says; requests that it does not allow must be refused, and those that it allows must not.
 * @throws Error with the seed, the number and the text of the first request that is answered otherwise
 */
export const runFuzz = async (requests: number, seed: number): Promise<FuzzReport> => {
  const report: FuzzReport = { requests: 0, statuses: {}, accepted: 0, refused: 0, jobs: 0 };
  const lanes = Array.from({ length: LANES }, (_, lane) =>
    runLane(Math.ceil(requests / LANES), seed + lane * SEEDS_PER_LANE, report),
  );
  await Promise.all(lanes);
  return report;
};
