import { setTimeout as sleep } from "node:timers/promises";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, it } from "vitest";
import { createDynamoDbClient } from "../../../lib/aws/dynamodb-client.ts";
import { type Caller, createCaller } from "../../support/service.ts";
import { createCpuClock } from "../../support/cpu-time.ts";
import type { RouteName } from "../../support/handlers.ts";
import { type ApiRequest, createTestOrganization } from "../../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";

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
  let call: Caller;
  beforeAll(async () => {
    runtime = await createTestRuntime({ clock: createCpuClock() });
    caller = await createTestOrganization(runtime);
    call = createCaller(runtime, caller.key);
  });

  const createItem = async (externalId: string) => {
    const body = { work_items: [{ external_id: externalId }] };
    const applied = await call("applyWorkItemBatch", { body });
    const { id } = applied.body.data.results[0]!.data!;
    const { headers } = await call("getWorkItem", { params: { id } });
    return { id, etag: headers["etag"] ?? "" };
  };
  const attributesOf = async (id: string): Promise<string[]> => {
    const { body } = await call("getWorkItem", { params: { id } });
    return Object.keys(body.data.custom_attributes).toSorted();
  };
  /** Each through an instance of its own, all at once. */
  const allAtOnce = <N extends RouteName>(name: N, requestOf: (index: number) => ApiRequest) =>
    Promise.all(
      writers.map(async (index) => {
        const callFrom = createCaller({ ...runtime, dynamodb: createDistantClient() }, caller.key);
        return callFrom(name, requestOf(index));
      }),
    );
  const countOf = (responses: readonly { readonly status: number }[], status: number): number =>
    responses.filter((response) => response.status === status).length;

  it("all succeed by PATCH, and none loses what another wrote", async () => {
    const { id } = await createItem("patched");
    const responses = await allAtOnce("updateWorkItem", (index) => ({
      params: { id },
      body: { work_item: { custom_attributes: { [`k${index}`]: index } } },
    }));
    expect(countOf(responses, 200)).toBe(WRITERS);
    expect(await attributesOf(id)).toEqual(keys);
  });

  it("hear 412 but for one where all mean the same version", async () => {
    const { id, etag } = await createItem("versioned");
    const responses = await allAtOnce("updateWorkItem", (index) => ({
      params: { id },
      headers: { "If-Match": etag },
      body: { work_item: { type: `type ${index}` } },
    }));
    expect([countOf(responses, 200), countOf(responses, 412)]).toEqual([1, WRITERS - 1]);
  });
});
