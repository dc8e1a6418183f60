import * as fc from "fast-check";
import type { EventInput, ItemInput, Json } from "./reference-item.ts";

/** Few, so that calls meet at the same items. */
const EXTERNAL_IDS = ["a", "ä#1", "constructor"];
const TIMES = ["2026-01-01T11:00:00+01:00", "2026-02-01t00:00:00.1239z"];
const STATUSES = ["pending", "in_progress", "completed", "cancelled"];

const externalId = fc.constantFrom(...EXTERNAL_IDS);
const text = fc.constantFrom("call", '"quoted", 日本');
const email = fc.constantFrom("ann@example.com", "bob@example.com");
const time = fc.constantFrom(...TIMES);
const value: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    0,
    1,
    -2.5,
    "text",
    "",
    [1, { a: null }],
    { deep: { er: [] } },
    { b: 1, a: 2 },
    { a: 2, b: 1 },
    { a: 3 },
  ),
);
const attribute = fc.constantFrom("k", "short_description", "description", "toString");
const attributes = fc.dictionary(attribute, value, { maxKeys: 3 });
const nullable = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { freq: 4 });

/** An event. */
export const eventInput: fc.Arbitrary<EventInput> = fc.record(
  {
    external_id: fc.constantFrom("e1", "e2", "e3"),
    actor_email: nullable(email),
    actor_name: nullable(text),
    actor_external_id: nullable(text),
    content: nullable(text),
    occurred_at: nullable(time),
  },
  { requiredKeys: ["external_id"] },
);

const fields = {
  agent_email: nullable(email),
  agent_name: nullable(text),
  agent_external_id: nullable(text),
  type: text,
  status: fc.constantFrom(...STATUSES),
  completed_at: nullable(time),
  custom_attributes: attributes,
  remove_attributes: fc.array(attribute, { maxLength: 2 }),
};

/** The fields of a PATCH. */
export const changes: fc.Arbitrary<Omit<ItemInput, "external_id" | "events">> = fc.record(fields, { requiredKeys: [] });

/** An item with events. */
export const itemInput: fc.Arbitrary<ItemInput> = fc.record(
  { external_id: externalId, ...fields, events: fc.array(eventInput, { maxLength: 3 }) },
  { requiredKeys: ["external_id"] },
);

/** Fields that make an item invalid. */
export const INVALID: readonly object[] = [
  { agent_email: "nobody" },
  { agent_name: "" },
  { type: null },
  { status: "done" },
  { completed_at: "2026-02-01T00:00:00" },
  { custom_attributes: null },
  { remove_attributes: [1] },
  { events: [{ content: "without external_id" }] },
  { qa_score: 1 },
];

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

const anyFilter: fc.Arbitrary<ModelFilters> = fc.oneof(
  fc.record({ external_id: externalId }),
  fc.record({ agent_external_id: text }),
  fc.record({ agent_email: email }),
  fc.record({ type: text }),
  fc.record({ status: fc.constantFrom(...STATUSES) }),
  fc.record({ completed_from: fc.constant("2026-02-01T00:00:00.123Z") }),
  fc.record({ completed_to: fc.constant("2026-02-01T00:00:00.123Z") }),
);
/** Filters of the list, mostly few, so that they leave something. */
export const filters: fc.Arbitrary<ModelFilters> = fc
  .array(anyFilter, { maxLength: 2 })
  .map((each) => Object.assign({}, ...each) as ModelFilters);
