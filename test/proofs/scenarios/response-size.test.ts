import type { APIGatewayProxyResult, Context } from "aws-lambda";
import { beforeAll, describe, expect, it } from "vitest";
import { create as applyBatch } from "../../../functions/apply-work-item-batch.ts";
import { create as getItem } from "../../../functions/get-work-item.ts";
import { create as listEvents } from "../../../functions/list-work-item-events.ts";
import { create as listItems } from "../../../functions/list-work-items.ts";
import { create as updateItem } from "../../../functions/update-work-item.ts";
import type { ApiHandler } from "../../../lib/http/middleware.ts";
import { workItemId } from "../../../lib/identity.ts";
import { apiEvent, type ApiRequest, createTestOrganization } from "../../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";

/** https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const RESULT_MAX_BYTES = 6_291_556;

interface Data {
  readonly results: readonly { readonly status: string; readonly data: object | null }[];
  readonly events: readonly object[];
}
interface Body {
  readonly data: Data & readonly { readonly id: string }[];
  readonly meta?: { readonly events?: { readonly next: string }; readonly page?: { readonly next?: string } };
}

/** Text of so many bytes in which every third character is a quote or a backslash. */
const denseText = (bytes: number): string =>
  JSON.stringify(JSON.stringify(Array(bytes >> 3).fill('"a'))).slice(0, bytes);

describe("a response, as Lambda counts it, is below its limit", () => {
  let runtime: TestRuntime;
  let caller: Awaited<ReturnType<typeof createTestOrganization>>;
  beforeAll(async () => {
    runtime = await createTestRuntime();
    caller = await createTestOrganization(runtime);
  });

  const send = async (create: (from: TestRuntime) => ApiHandler, request: ApiRequest): Promise<Body> => {
    const result: APIGatewayProxyResult = await create(runtime)(
      apiEvent({ key: caller.key, ...request }),
      {} as Context,
    );
    expect([result.statusCode, result.body.slice(0, 200)]).toEqual([200, expect.any(String)]);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(RESULT_MAX_BYTES);
    return JSON.parse(result.body) as Body;
  };
  const batch = (work_items: readonly object[]): Promise<Body> =>
    send(applyBatch, { method: "POST", resource: "/v1/work_items/batch", body: { work_items } });

  it("for a page of a hundred items that are dense in quotes", async () => {
    const custom_attributes = Object.fromEntries(Array.from({ length: 4200 }, (_, key) => [`k${key}`, `v${key}`]));
    const items = Array.from({ length: 100 }, (_, index) => ({ external_id: `dense-${index}`, custom_attributes }));
    for (let from = 0; from < 100; from += 50) await batch(items.slice(from, from + 50));
    const ids = new Set<string>();
    let cursor: string | undefined;
    do {
      const query = { limit: 100, ...(cursor !== undefined && { cursor }) };
      const { data, meta } = await send(listItems, { resource: "/v1/work_items", query });
      for (const { id } of data) ids.add(id);
      cursor = meta?.page?.next;
    } while (cursor !== undefined);
    expect(ids.size).toBe(100);

    // All of them together again, with a change: what does not fit is null, its outcome is told.
    const { data } = await batch(items.map(({ external_id }) => ({ external_id, type: "changed" })));
    expect(data.results.map(({ status }) => status)).toEqual(Array(100).fill("updated"));
    expect(data.results.filter((result) => result.data === null).length).toBeGreaterThan(0);
  });

  it("for an item with events of megabytes, by get, PATCH and the list of its events", async () => {
    const content = denseText(40_000);
    for (let from = 0; from < 180; from += 30) {
      const events = Array.from({ length: 30 }, (_, index) => ({ external_id: `event-${from + index}`, content }));
      await batch([{ external_id: "eventful", events }]);
    }
    const params = { id: workItemId(caller.organization.id, "eventful") };
    const resource = "/v1/work_items/{id}";
    const { data, meta } = await send(getItem, { resource, params });
    const body = { work_item: { type: "patched" } };
    await send(updateItem, { method: "PATCH", resource, params, body });

    let read = data.events.length;
    for (let cursor = meta?.events?.next; cursor !== undefined;) {
      const page = await send(listEvents, { resource: `${resource}/events`, params, query: { cursor, limit: 100 } });
      read += page.data.length;
      cursor = page.meta?.page?.next;
    }
    expect(read).toBe(180);
  });

  it("for the largest item that there can be, whose description is shown twice", async () => {
    const description = denseText(125_000);
    const { data } = await batch([
      {
        external_id: "largest",
        agent_name: '"'.repeat(1024),
        custom_attributes: { description, short_description: "x" },
      },
    ]);
    expect(data.results[0]?.data).not.toBeNull();
    const params = { id: workItemId(caller.organization.id, "largest") };
    await send(getItem, { resource: "/v1/work_items/{id}", params });
  });
});
