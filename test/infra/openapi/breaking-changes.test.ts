import { describe, expect, it } from "vitest";
import { breakingChanges } from "../../../infra/openapi/breaking-changes.ts";
import { createOpenApiDocument, type OpenApiDocument } from "../../../infra/openapi/document.ts";

const document = JSON.parse(JSON.stringify(createOpenApiDocument())) as OpenApiDocument;

/** The breaking changes of a document in which one place differs. @param value undefined removes; `-` at the end of a place appends */
const after = (place: readonly string[], value: unknown): string[] => {
  const copy = structuredClone(document);
  const last = place.at(-1) ?? "";
  const parent = place.slice(0, -1).reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], copy);
  if (Array.isArray(parent)) {
    if (last === "-") parent.push(value);
    else parent.splice(Number(last), 1);
  } else if (value === undefined) delete (parent as Record<string, unknown>)[last];
  else (parent as Record<string, unknown>)[last] = value;
  return breakingChanges(document, copy);
};

const path = (name: string, ...rest: readonly string[]) => ["paths", name, ...rest];
const schema = (name: string, ...rest: readonly string[]) => ["components", "schemas", name, ...rest];
const property = (name: string, field: string, ...rest: readonly string[]) =>
  schema(name, "properties", field, ...rest);
const ITEMS = "/v1/work_items";
const ITEM = "/v1/work_items/{id}";

type Case = readonly [what: string, place: readonly string[], value: unknown, expected: string];

describe("breaking changes", () => {
  it("are none in the same document", () => {
    expect(breakingChanges(document, structuredClone(document))).toEqual([]);
  });

  it.each<Case>([
    ["a path", path("/v1/health"), undefined, "GET /v1/health: is removed"],
    ["an operation", path(ITEMS, "get"), undefined, "GET /v1/work_items: is removed"],
    ["a status", path(ITEMS, "post", "responses", "409"), undefined, "POST /v1/work_items 409: is removed"],
    [
      "a media type",
      path("/v1/work_items/upload", "post", "requestBody", "content", "multipart/form-data"),
      undefined,
      "POST /v1/work_items/upload body multipart/form-data: is removed",
    ],
    [
      "a header",
      path(ITEM, "get", "responses", "200", "headers", "ETag"),
      undefined,
      "GET /v1/work_items/{id} 200 header ETag: is removed",
    ],
    [
      "a query parameter",
      path(ITEMS, "get", "parameters", "0"),
      undefined,
      "GET /v1/work_items query limit: is removed",
    ],
    [
      "a field of responses",
      property("WorkItem", "qa_score"),
      undefined,
      "GET /v1/work_items 200 application/json.data[].qa_score: is removed",
    ],
    [
      "a field of requests",
      property("WorkItemPatch", "type"),
      undefined,
      "PATCH /v1/work_items/{id} body application/json.work_item.type: is removed",
    ],
  ])("are found where %s is removed", (_, place, value, expected) => {
    expect(after(place, value)).toContain(expected);
  });

  it.each<Case>([
    [
      "parameter is required",
      path(ITEMS, "get", "parameters", "0", "required"),
      true,
      "GET /v1/work_items query limit: is required now",
    ],
    [
      "new parameter is required",
      path(ITEMS, "get", "parameters", "-"),
      { in: "query", name: "x", required: true, schema: {} },
      "GET /v1/work_items query x: is required now",
    ],
    [
      "field is required",
      schema("WorkItemEventInput", "required", "-"),
      "content",
      "POST /v1/work_items/{id}/events body application/json.event.content: is required now",
    ],
    [
      "string must be shorter",
      property("WorkItemEventInput", "external_id", "maxLength"),
      100,
      "POST /v1/work_items/{id}/events body application/json.event.external_id: maxLength is narrower",
    ],
    [
      "string must be longer",
      property("WorkItemPatch", "agent_name", "minLength"),
      2,
      "PATCH /v1/work_items/{id} body application/json.work_item.agent_name: minLength is narrower",
    ],
    [
      "string has a pattern",
      property("WorkItemPatch", "agent_name", "pattern"),
      "^a",
      "PATCH /v1/work_items/{id} body application/json.work_item.agent_name: pattern is narrower",
    ],
    [
      "field may not be null",
      property("WorkItemPatch", "agent_name", "type"),
      "string",
      "PATCH /v1/work_items/{id} body application/json.work_item.agent_name: takes no null now",
    ],
    [
      "enum has fewer values",
      schema("WorkItemStatus", "enum", "0"),
      undefined,
      "PATCH /v1/work_items/{id} body application/json.work_item.status: takes no pending now",
    ],
    [
      "alternative takes less",
      schema("ApplyWorkItemBatchRequest", "anyOf", "0", "properties", "dry_run", "type"),
      "null",
      "POST /v1/work_items/batch body application/json: its alternatives changed",
    ],
    [
      "operation has another id",
      path("/v1/health", "get", "operationId"),
      "health",
      "GET /v1/health: its operationId changed",
    ],
  ])("are found where a %s", (_, place, value, expected) => {
    expect(after(place, value)).toContain(expected);
  });

  it.each<Case>([
    [
      "field may be absent",
      schema("WorkItem", "required", "0"),
      undefined,
      "GET /v1/work_items 200 application/json.data[].id: may be absent now",
    ],
    [
      "field may be null",
      property("WorkItem", "type", "type"),
      ["string", "null"],
      "GET /v1/work_items 200 application/json.data[].type: may be null now",
    ],
    [
      "status has a new value",
      schema("WorkItemUploadStatus", "enum", "-"),
      "paused",
      "GET /v1/work_items/upload/{id} 200 application/json.data.status: may be paused now",
    ],
    [
      "field has no format",
      property("WorkItem", "id", "format"),
      undefined,
      "GET /v1/work_items 200 application/json.data[].id: is no uuid any more",
    ],
    [
      "field has another alternative",
      property("BatchResult", "data", "anyOf", "-"),
      { type: "string" },
      "POST /v1/work_items/batch 200 application/json.data.results[].data: its alternatives changed",
    ],
  ])("are found where a response's %s", (_, place, value, expected) => {
    expect(after(place, value)).toContain(expected);
  });

  it.each<readonly [what: string, place: readonly string[], value: unknown]>([
    ["a path", path("/v1/new"), document.paths["/v1/health"]],
    ["a status", path("/v1/health", "get", "responses", "429"), {}],
    ["an optional parameter", path(ITEMS, "get", "parameters", "-"), { in: "query", name: "x", schema: {} }],
    ["an optional field of requests", property("WorkItemInput", "colour"), { type: "integer" }],
    ["a field of responses", property("WorkItem", "colour"), { type: "integer" }],
    ["room for longer strings", property("WorkItemInput", "type", "maxLength"), 5000],
    ["a code of problems", schema("ProblemCode", "anyOf", "0", "enum", "-"), "new"],
    ["another description", schema("WorkItem", "description"), "Else."],
  ])("are not: %s", (_, place, value) => {
    expect(after(place, value)).toEqual([]);
  });
});
