import { setTimeout as sleep } from "node:timers/promises";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, it } from "vitest";
import { create as applyBatch } from "../../functions/apply-work-item-batch.ts";
import { create as getItem } from "../../functions/get-work-item.ts";
import { create as updateItem } from "../../functions/update-work-item.ts";
import { create as upsertEvent } from "../../functions/upsert-work-item-event.ts";
import type { ApiHandler } from "../../lib/http/chain.ts";
import { createDynamoDbClient } from "../../lib/aws/dynamodb-client.ts";
import { createCpuClock } from "../support/cpu-time.ts";
import { type ApiRequest, call, createTestOrganization } from "../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";
import { createWorkers } from "../support/uploads/upload-workers.ts";

const WRITERS = 40;
const DELAY_MAX_MS = 20;

/** A client as an instance of its own has it, some milliseconds away from DynamoDB. */
const createDistantClient = (): DynamoDBDocumentClient => {
  const client = createDynamoDbClient();
  client.middlewareStack.add(
    (next) => async (request) => {
      await sleep(Math.random() * DELAY_MAX_MS);
      const response = await next(request);
      await sleep(Math.random() * DELAY_MAX_MS);
      return response;
    },
    { step: "finalizeRequest", priority: "low", name: "distance" },
  );
  return client;
};

const writers = Array.from({ length: WRITERS }, (_, index) => index);
const keys = writers.map((index) => `k${index}`).toSorted();

describe("forty writers at one item", () => {
  let runtime: TestRuntime;
  let caller: Awaited<ReturnType<typeof createTestOrganization>>;
  beforeAll(async () => {
    runtime = await createTestRuntime({ clock: createCpuClock() });
    caller = await createTestOrganization(runtime);
  });

  const send = async (create: (from: TestRuntime) => ApiHandler, request: ApiRequest) => {
    const { status, text, headers } = await call(create(runtime), { method: "POST", key: caller.key, ...request });
    return { status, headers, data: (JSON.parse(text) as { data: never }).data };
  };
  const createItem = async (externalId: string) => {
    const body = { work_items: [{ external_id: externalId }] };
    const { data } = await send(applyBatch, { resource: "/v1/work_items/batch", body });
    const { id } = (data as { results: { data: { id: string } }[] }).results[0]!.data;
    const { headers } = await send(getItem, { method: "GET", resource: "/v1/work_items/{id}", params: { id } });
    return { id, etag: headers["etag"] ?? "" };
  };
  const attributesOf = async (id: string): Promise<string[]> => {
    const { data } = await send(getItem, { method: "GET", resource: "/v1/work_items/{id}", params: { id } });
    return Object.keys((data as { custom_attributes: object }).custom_attributes).toSorted();
  };
  /** Each through an instance of its own, all at once. */
  const allAtOnce = (create: (from: TestRuntime) => ApiHandler, requestOf: (index: number) => ApiRequest) =>
    Promise.all(
      writers.map((index) =>
        call(create({ ...runtime, dynamodb: createDistantClient() }), {
          method: "POST",
          key: caller.key,
          ...requestOf(index),
        }),
      ),
    );
  const countOf = (responses: readonly { readonly status: number }[], status: number): number =>
    responses.filter((response) => response.status === status).length;

  it("all succeed by PATCH, and none loses what another wrote", async () => {
    const { id } = await createItem("patched");
    const responses = await allAtOnce(updateItem, (index) => ({
      method: "PATCH",
      resource: "/v1/work_items/{id}",
      params: { id },
      body: { work_item: { custom_attributes: { [`k${index}`]: index } } },
    }));
    expect(countOf(responses, 200)).toBe(WRITERS);
    expect(await attributesOf(id)).toEqual(keys);
  });

  it("hear 412 but for one where all mean the same version", async () => {
    const { id, etag } = await createItem("versioned");
    const responses = await allAtOnce(updateItem, (index) => ({
      method: "PATCH",
      resource: "/v1/work_items/{id}",
      params: { id },
      headers: { "If-Match": etag },
      body: { work_item: { type: `type ${index}` } },
    }));
    expect([countOf(responses, 200), countOf(responses, 412)]).toEqual([1, WRITERS - 1]);
  });

  it("all succeed by batch", async () => {
    const { id } = await createItem("batched");
    const responses = await allAtOnce(applyBatch, (index) => ({
      resource: "/v1/work_items/batch",
      body: {
        work_items: [
          { external_id: "batched", custom_attributes: { [`k${index}`]: index } },
          { external_id: `own-${index}` },
        ],
      },
    }));
    expect(responses.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([]);
    const results = responses.flatMap(
      ({ text }) => (JSON.parse(text) as { data: { results: { status: string }[] } }).data.results,
    );
    expect(results.filter(({ status }) => status === "error")).toEqual([]);
    expect(await attributesOf(id)).toEqual(keys);
  });

  it("all succeed with one event", async () => {
    const { id } = await createItem("with event");
    const responses = await allAtOnce(upsertEvent, (index) => ({
      resource: "/v1/work_items/{id}/events",
      params: { id },
      body: { event: { external_id: "event", content: `from ${index}` } },
    }));
    expect(responses.filter(({ status }) => status >= 300).map(({ text }) => text)).toEqual([]);
    expect([countOf(responses, 201), countOf(responses, 200)]).toEqual([1, WRITERS - 1]);
  });

  it("all succeed as rows of forty files", async () => {
    const { id } = await createItem("uploaded");
    const jobs = await Promise.all(
      writers.map(async (index) => {
        const workers = createWorkers({ ...runtime, dynamodb: createDistantClient() });
        const text = `external_id,custom_attributes.k${index}\nuploaded,x\n`;
        const job = await workers.upload(caller.organization, { text });
        const handOverAt = Date.now() + 60_000;
        await workers.handle(JSON.stringify({ ...job, offset: 0 }), handOverAt);
        await workers.handle(
          JSON.stringify({ organization: job.organization, id: job.id, part: 0, segment: 0, offset: 0 }),
          handOverAt,
        );
        return workers.store.readJob(job);
      }),
    );
    const ends = jobs.map((job) => `${job?.status} ${job?.updated_rows} ${job?.error ?? ""}`.trim());
    expect(ends).toEqual(writers.map(() => "completed 1"));
    expect(await attributesOf(id)).toEqual(keys);
  });
});
