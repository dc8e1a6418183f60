import { beforeAll, describe, expect, it } from "vitest";
import { createTestService } from "../support/service.ts";

let service: Awaited<ReturnType<typeof createTestService>>;
beforeAll(async () => {
  service = await createTestService();
});
const call: typeof service.call = (name, request) => service.call(name, request);

let counter = 0;
const fresh = (): string => `item-${counter++}`;
const create = async (fields: object = {}) => {
  const response = await call("createWorkItem", { body: { work_item: { external_id: fresh(), ...fields } } });
  expect(response.status, response.text).toBe(201);
  return response.body.data;
};

describe("unusual input is returned unchanged", () => {
  it.each([
    [
      "keys that name built-in things",
      '{"constructor":1,"toString":{"a":[]},"#a":null,"a.b":true,"a[0]":"x","":"empty"}',
    ],
    [
      "numbers digit for digit",
      '{"big":9007199254740993,"long":0.1000000000000000055511151231257827,"one":1.0,"exp":1E+2,"neg":-0}',
    ],
    ["emoji and control characters", JSON.stringify({ "👩‍🚀": "\u0001\u001f\u007f\u2028 \ud83d\ude00", lone: "\ud800" })],
    ["thirty levels", `{"a":${"[".repeat(30)}${"]".repeat(30)}}`],
  ])("%s", async (_, attributes) => {
    const external_id = fresh();
    const body = `{"work_item":{"external_id":"${external_id}","custom_attributes":${attributes}}}`;
    const created = await call("createWorkItem", { body });
    expect(created.status, created.text).toBe(201);
    const { text } = await call("getWorkItem", { params: { id: created.body.data.id } });
    expect(text).toContain(`"custom_attributes":${attributes}`);
    const batch = await call("applyWorkItemBatch", {
      body: `{"work_items":[{"external_id":"${external_id}","custom_attributes":${attributes}}]}`,
    });
    expect(batch.body.data.results[0]!.status).toBe("unchanged");
  });
  it.each([["a/b#c%d e"], ["漢".repeat(512)], ["👍".repeat(512)], [" "]])("the external_id %s", async (external_id) => {
    const item = await create({ external_id });
    expect(item.external_id).toBe(external_id);
    const { body } = await call("listWorkItems", { query: { external_id } });
    expect(body.data).toHaveLength(1);
  });
});

it.each([
  ["external_id", "must be a string, not a number"],
  ["events", "must be an array, not a number"],
])("names a number of many digits as %s as what it is", async (field, problem) => {
  for (const number of ["12345678901234567890", "1.0"]) {
    const response = await call("createWorkItem", { body: `{"work_item":{"external_id":"a","${field}":${number}}}` });
    expect([response.status, response.body]).toEqual([422, { error: `work_item.${field}: ${problem}` }]);
    const inPlace = await call("createWorkItem", { body: `{"work_item":${number}}` });
    expect(inPlace.body).toEqual({ error: "work_item: must be an object, not a number" });
  }
});
