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
    ["an endpoint", path("/v1/health"), undefined, "paths./v1/health"],
    ["a method", path(ITEMS, "get"), undefined, "paths./v1/work_items.get"],
    ["a status", path(ITEMS, "post", "responses", "409"), undefined, "paths./v1/work_items.post.responses.409"],
    [
      "a media type",
      path("/v1/work_items/upload", "post", "requestBody", "content", "multipart/form-data"),
      undefined,
      "paths./v1/work_items/upload.post.requestBody.content.multipart/form-data",
    ],
    [
      "a header",
      path(ITEM, "get", "responses", "200", "headers", "ETag"),
      undefined,
      "paths./v1/work_items/{id}.get.responses.200.headers.ETag",
    ],
    [
      "a query parameter",
      path(ITEMS, "get", "parameters", "0"),
      undefined,
      "paths./v1/work_items.get.parameters.properties.query limit",
    ],
    [
      "a parameter's list",
      path(ITEMS, "get", "parameters", "6", "schema"),
      { $ref: "#/components/schemas/WorkItemStatus" },
      "paths./v1/work_items.get.parameters.properties.query status.items",
    ],
    ["a field of responses", property("WorkItem", "qa_score"), undefined, "schemas.WorkItem.properties.qa_score"],
    ["a field of requests", property("WorkItemPatch", "type"), undefined, "schemas.WorkItemPatch.properties.type"],
    ["a schema", schema("WorkItemStatus"), undefined, "schemas.WorkItemStatus"],
  ])("are found where %s is removed", (_, place, value, expected) => {
    expect(after(place, value)).toContain(`${expected}: is removed`);
  });

  it.each<Case>([
    [
      "parameter is required",
      path(ITEMS, "get", "parameters", "0", "required"),
      true,
      "paths./v1/work_items.get.parameters.required",
    ],
    [
      "new parameter is required",
      path(ITEMS, "get", "parameters", "-"),
      { in: "query", name: "x", required: true, schema: {} },
      "paths./v1/work_items.get.parameters.required",
    ],
    [
      "body is required where there was none",
      path(ITEM, "delete", "requestBody"),
      { required: true, content: {} },
      "paths./v1/work_items/{id}.delete.requestBody.required",
    ],
    [
      "field is required",
      schema("WorkItemEventInput", "required", "-"),
      "content",
      "schemas.WorkItemEventInput.required",
    ],
    [
      "string must be shorter",
      property("WorkItemEventInput", "external_id", "maxLength"),
      100,
      "schemas.WorkItemEventInput.properties.external_id.maxLength",
    ],
    [
      "string must be longer",
      property("WorkItemPatch", "agent_name", "minLength"),
      2,
      "schemas.WorkItemPatch.properties.agent_name.minLength",
    ],
    [
      "string has a pattern",
      property("WorkItemPatch", "agent_name", "pattern"),
      "^a",
      "schemas.WorkItemPatch.properties.agent_name.pattern",
    ],
    [
      "field may not be null",
      property("WorkItemPatch", "agent_name", "type"),
      "string",
      "schemas.WorkItemPatch.properties.agent_name.type",
    ],
    ["enum has fewer values", schema("WorkItemStatus", "enum", "0"), undefined, "schemas.WorkItemStatus.enum"],
    [
      "map takes fewer names",
      schema("WorkItemUploadMappingFields", "propertyNames", "pattern"),
      "^(external_id)$",
      "schemas.WorkItemUploadMappingFields.propertyNames.pattern",
    ],
    [
      "alternative takes less",
      schema("WorkItemUploadMapping", "anyOf", "0", "properties", "header_row", "type"),
      "null",
      "schemas.WorkItemUploadMapping.anyOf",
    ],
    [
      "operation has another id",
      path("/v1/health", "get", "operationId"),
      "health",
      "paths./v1/health.get.operationId",
    ],
  ])("are found: a %s", (_, place, value, expected) => {
    expect(after(place, value)).toEqual([expect.stringContaining(`${expected}: is now `)]);
  });

  it("are found where an operation that was public needs a key", () => {
    expect(after(path("/v1/health", "get", "security"), undefined)).toEqual([
      "paths./v1/health.get.security: is removed",
    ]);
  });

  it.each<Case>([
    ["field may be absent", schema("WorkItem", "required", "0"), undefined, "schemas.WorkItem.required: is now "],
    [
      "field may be null",
      property("WorkItem", "type", "type"),
      ["string", "null"],
      "schemas.WorkItem.properties.type.type: is now ",
    ],
    ["status has a new value", schema("WorkItemStatus", "enum", "-"), "paused", "schemas.WorkItemStatus.enum: is now "],
    [
      "field has no format",
      property("WorkItem", "id", "format"),
      undefined,
      "schemas.WorkItem.properties.id.format: is removed",
    ],
    [
      "field has another alternative",
      property("BatchResult", "data", "anyOf", "-"),
      { type: "string" },
      "schemas.BatchResult.properties.data.anyOf: is now ",
    ],
  ])("are found where a response's %s", (_, place, value, expected) => {
    expect(after(place, value)).toContainEqual(expect.stringContaining(expected));
  });

  it.each<readonly [what: string, place: readonly string[], value: unknown]>([
    ["an endpoint", path("/v1/new"), document.paths["/v1/health"]],
    ["a status", path("/v1/health", "get", "responses", "429"), {}],
    ["an optional parameter", path(ITEMS, "get", "parameters", "-"), { in: "query", name: "x", schema: {} }],
    [
      "a parameter that may be repeated",
      path(ITEMS, "get", "parameters", "2", "schema"),
      {
        type: "array",
        items: (document.paths[ITEMS]!["get"]!["parameters"] as readonly { schema: object }[])[2]?.schema,
      },
    ],
    ["an optional field of requests", property("WorkItemInput", "colour"), { type: "integer" }],
    ["a field of responses", property("WorkItem", "colour"), { type: "integer" }],
    ["a field that is named like a keyword", property("WorkItem", "required"), { type: "integer" }],
    [
      "a name that a mapping takes",
      schema("WorkItemUploadMappingFields", "propertyNames", "pattern"),
      (
        document.components.schemas as { WorkItemUploadMappingFields: { propertyNames: { pattern: string } } }
      ).WorkItemUploadMappingFields.propertyNames.pattern.replace("^(", "^(colour|"),
    ],
    ["room for longer strings", property("WorkItemInput", "type", "maxLength"), 5000],
    ["a code of problems", schema("ProblemCode", "x-extensible-enum", "-"), "new"],
    ["another description", schema("WorkItem", "description"), "Else."],
  ])("are not: %s", (_, place, value) => {
    expect(after(place, value)).toEqual([]);
  });
});
