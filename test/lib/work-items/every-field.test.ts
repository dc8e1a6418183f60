import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { inputOf, type WorkItem } from "../../../apps/client/client.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { toCell } from "../../../lib/uploads/csv/csv-text.ts";
import type { EventInput, WorkItemInput } from "../../../lib/work-items/work-item.ts";
import { type EVENT_FIELDS, WORK_ITEM_FIELDS } from "../../../lib/work-items/work-item-fields.ts";
import { type Caller, createTestService } from "../../support/service.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../../support/uploads/upload-harness.ts";
import { lambdaContext } from "../../support/lambda-context.ts";

type Values<F> = { [N in keyof F]: fc.Arbitrary<unknown> };

const text = fc.stringMatching(/^[A-Za-z0-9 ,;"'äßλ-]{0,20}[A-Za-z0-9]$/);
const email = fc.stringMatching(/^[a-z]{1,8}@[a-z]{1,8}\.com$/);
const time = fc
  .date({ min: new Date("2000-01-01T00:00:00Z"), max: new Date("2035-01-01T00:00:00Z"), noInvalidDate: true })
  .map((date) => date.toISOString());

/** A value of every field: one that is missing here does not compile. */
const itemValues: Values<typeof WORK_ITEM_FIELDS> = {
  agent_email: email,
  agent_name: text,
  agent_external_id: text,
  type: text,
  status: fc.constantFrom("pending", "in_progress", "completed", "cancelled"),
  completed_at: time,
  custom_attributes: fc.dictionary(
    fc.stringMatching(/^[a-z.]{1,6}$/),
    fc.oneof(text, fc.integer(), fc.constant(null)),
    {
      minKeys: 1,
      maxKeys: 3,
    },
  ),
};
const eventValues: Values<typeof EVENT_FIELDS> = {
  actor_email: email,
  actor_name: text,
  actor_external_id: text,
  content: text,
  occurred_at: time,
};
const itemFields = fc.record(itemValues) as fc.Arbitrary<Omit<WorkItemInput, "external_id" | "events">>;
const eventFields = fc.record(eventValues) as fc.Arbitrary<Omit<EventInput, "external_id">>;

interface Person {
  readonly email: string | null;
  readonly name: string | null;
  readonly external_id: string | null;
}
type Shown = Record<string, unknown>;

/** What a caller sent, read back from what a response shows. */
const sentItem = (shown: WorkItem): Shown => {
  const { external_id: _, ...fields } = inputOf(shown);
  return fields;
};
const sentEvent = ({ actor, ...shown }: Shown): Shown => {
  const { email: actor_email, name: actor_name, external_id: actor_external_id } = actor as Person;
  const fields: Shown = { ...shown, actor_email, actor_name, actor_external_id };
  return Object.fromEntries(Object.keys(eventValues).map((name) => [name, fields[name]]));
};

const cellOf = (value: unknown): string => toCell(typeof value === "string" ? value : JSON.stringify(value), ",");

describe("every field", () => {
  let service: Awaited<ReturnType<typeof createTestService>>;
  let uploads: ReturnType<typeof createUploadHarness>;
  beforeAll(async () => {
    service = await createTestService();
    uploads = createUploadHarness(service.runtime);
  });

  const call: Caller = async (name, request) => {
    const response = await service.call(name, request);
    if (response.status >= 300) throw new Error(`${name}: ${response.status} ${response.text}`);
    return response;
  };
  let count = 0;
  const newId = (): string => `every-${count++}`;
  const batch = async (input: object) => {
    const { body } = await call("applyWorkItemBatch", { body: { work_items: [input] } });
    return body.data.results[0]!.data!;
  };

  /** By each way in which an item can be read. */
  const readBack = async (externalId: string): Promise<WorkItem[]> => {
    const listed = (await call("listWorkItems", { query: { external_id: externalId } })).body.data[0]!;
    const { id } = listed;
    const recent = (await call("listWorkItems", { query: { limit: 100 } })).body.data;
    return [
      listed,
      recent.find((item) => item.id === id)!,
      (await call("getWorkItem", { params: { id } })).body.data,
      await batch({ external_id: externalId }),
    ];
  };

  const ways: Record<string, (externalId: string, fields: object) => Promise<unknown>> = {
    create: (external_id, fields) => call("createWorkItem", { body: { work_item: { external_id, ...fields } } }),
    batch: (external_id, fields) => batch({ external_id, ...fields }),
    PATCH: async (external_id, fields) => {
      const { id } = await batch({
        external_id,
        custom_attributes: (fields as { custom_attributes: JsonObject }).custom_attributes,
      });
      return call("updateWorkItem", { params: { id }, body: { work_item: fields } });
    },
    CSV: async (external_id, fields) => {
      const header = ["external_id", ...Object.keys(fields)].join(",");
      const row = [external_id, ...Object.values(fields)].map(cellOf).join(",");
      const job = await uploads.upload(service.organization, `${header}\n${row}\n`);
      await uploads.split(sqsEvent(splitMessage(job)), lambdaContext(120_000));
      await uploads.drain();
      expect(await uploads.store.readJob(job)).toMatchObject({ status: "completed", succeeded_rows: 1 });
    },
  };

  it.each(Object.keys(ways))("of an item goes in by %s and comes back by get, list and batch", async (way) => {
    await fc.assert(
      fc.asyncProperty(itemFields, async (fields) => {
        const externalId = newId();
        await ways[way]!(externalId, fields);
        for (const shown of await readBack(externalId)) expect(sentItem(shown)).toEqual(fields);
      }),
      { numRuns: 12 },
    );
  });

  const eventWays: Record<string, (externalId: string, event: EventInput) => Promise<unknown>> = {
    create: (external_id, event) => call("createWorkItem", { body: { work_item: { external_id, events: [event] } } }),
    batch: (external_id, event) => batch({ external_id, events: [event] }),
    event: async (external_id, event) => {
      const { id } = await batch({ external_id });
      return call("upsertWorkItemEvent", { params: { id }, body: { event } });
    },
  };

  it.each(Object.keys(eventWays))("of an event goes in by %s and comes back by get and list of events", async (way) => {
    await fc.assert(
      fc.asyncProperty(eventFields, async (fields) => {
        const externalId = newId();
        await eventWays[way]!(externalId, { external_id: "event", ...fields });
        const { id } = await batch({ external_id: externalId });
        const params = { id };
        const { events } = (await call("getWorkItem", { params })).body.data;
        const listed = (await call("listWorkItemEvents", { params })).body.data;
        for (const shown of [...events, ...listed]) expect(sentEvent(shown)).toEqual(fields);
        expect([events.length, listed.length]).toEqual([1, 1]);
      }),
      { numRuns: 12 },
    );
  });

  it("that may be null is cleared by null", async () => {
    const externalId = newId();
    const { id } = await batch({
      external_id: externalId,
      agent_email: "a@b.com",
      agent_name: "A",
      agent_external_id: "1",
    });
    const cleared = { agent_email: null, agent_name: null };
    const patched = await call("updateWorkItem", { params: { id }, body: { work_item: cleared } });
    expect(sentItem(patched.body.data)).toMatchObject({ agent_email: null, agent_name: null, agent_external_id: "1" });
    expect(sentItem(await batch({ external_id: externalId, agent_external_id: null }))).toMatchObject({
      agent_external_id: null,
    });
  });

  it("of an item keeps a letter of its own, by which dry runs that are running remember it", () => {
    const letters = Object.entries(WORK_ITEM_FIELDS).map(([name, { letter }]) => [name, letter] as const);
    expect(Object.fromEntries(letters)).toMatchObject({
      agent_email: "A",
      agent_name: "B",
      agent_external_id: "C",
      type: "D",
      status: "E",
      completed_at: "F",
      custom_attributes: "G",
    });
    expect(letters.filter(([, letter]) => !/^[A-Z]$/.test(letter))).toEqual([]);
    expect(new Set(letters.map(([, letter]) => letter)).size).toBe(letters.length);
  });
});
