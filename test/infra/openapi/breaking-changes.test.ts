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
/** A schema's enumeration with one more value, as `npm run openapi` writes it. */
const withValue = (name: string, value: string) => {
  const before = (document.components.schemas as Record<string, { enum: string[]; "x-enum-varnames": string[] }>)[
    name
  ]!;
  const names = [...before["x-enum-varnames"], `${before["x-enum-varnames"][0]}_${value}`];
  return { ...before, enum: [...before.enum, value], "x-enum-varnames": names };
};
const ITEMS = "/v1/work_items";
const ITEM = "/v1/work_items/{id}";

/** @param at where it is found, if not at the place itself */
type Case = readonly [what: string, place: readonly string[], value?: unknown, at?: string];
const PARAMETERS = "paths./v1/work_items.get.parameters";
/** A place as it is said, without the number of what was added or removed. */
const said = (place: readonly string[]): string => place.filter((key) => !/^(components|\d|-)$/.test(key)).join(".");
const placed = (cases: readonly Case[]) =>
  cases.map(([what, place, value, at = said(place)]) => ({ what, place, value, at }));

describe("breaking changes", () => {
  it("are none in the same document", () => {
    expect(breakingChanges(document, structuredClone(document))).toEqual([]);
  });

  it.each(
    placed([
      ["an endpoint", path("/v1/health")],
      ["a method", path(ITEMS, "get")],
      ["a status", path(ITEMS, "post", "responses", "409")],
      ["a media type", path("/v1/work_items/upload", "post", "requestBody", "content", "multipart/form-data")],
      ["a header", path(ITEM, "get", "responses", "200", "headers", "ETag")],
      ["a query parameter", path(ITEMS, "get", "parameters", "0"), undefined, `${PARAMETERS}.properties.query limit`],
      [
        "a parameter's list",
        path(ITEMS, "get", "parameters", "6", "schema"),
        { $ref: "#/components/schemas/WorkItemStatus" },
        `${PARAMETERS}.properties.query status.items`,
      ],
      ["a field of responses", property("WorkItem", "qa_score")],
      ["a field of requests", property("WorkItemPatch", "type")],
      ["a schema", schema("WorkItemStatus")],
      ["the list of a response's values", property("Webhook", "status", "x-extensible-enum")],
    ]),
  )("are found where $what is removed", ({ place, value, at }) => {
    expect(after(place, value)).toContain(`${at}: is removed`);
  });

  it.each(
    placed([
      ["parameter is required", path(ITEMS, "get", "parameters", "0", "required"), true],
      [
        "new parameter is required",
        path(ITEMS, "get", "parameters", "-"),
        { in: "query", name: "x", required: true, schema: {} },
        `${PARAMETERS}.required`,
      ],
      [
        "body is required where there was none",
        path(ITEM, "delete", "requestBody"),
        { required: true, content: {} },
        "paths./v1/work_items/{id}.delete.requestBody.required",
      ],
      ["field is required", schema("WorkItemEventInput", "required", "-"), "content"],
      ["string must be shorter", property("WorkItemEventInput", "external_id", "maxLength"), 100],
      ["string must be longer", property("WorkItemPatch", "agent_name", "minLength"), 2],
      ["string has a pattern", property("WorkItemPatch", "agent_name", "pattern"), "^a"],
      ["field may not be null", property("WorkItemPatch", "agent_name", "type"), "string"],
      ["enum has fewer values", schema("WorkItemStatus", "enum", "0")],
      ["value of responses is gone", property("Webhook", "status", "x-extensible-enum", "0")],
      [
        "value has another name in clients",
        schema("WorkItemUploadStatus", "x-enum-varnames"),
        ["A", "B", "C", "D", "E"],
      ],
      ["map takes fewer names", schema("WorkItemUploadMappingFields", "propertyNames", "pattern"), "^(external_id)$"],
      [
        "alternative takes less",
        schema("WorkItemUploadMapping", "anyOf", "0", "properties", "header_row", "type"),
        "null",
        "schemas.WorkItemUploadMapping.anyOf",
      ],
      ["operation has another id", path("/v1/health", "get", "operationId"), "health"],
    ]),
  )("are found: a $what", ({ place, value, at }) => {
    expect(after(place, value)).toEqual([expect.stringContaining(`${at}: is now `)]);
  });

  it("are found where an operation that was public needs a key", () => {
    expect(after(path("/v1/health", "get", "security"), undefined)).toEqual([
      "paths./v1/health.get.security: is removed",
    ]);
  });

  it.each<readonly [what: string, place: readonly string[], value: unknown, change: string]>([
    ["field may be absent", schema("WorkItem", "required", "0"), undefined, "now "],
    ["field may be null", property("WorkItem", "type", "type"), ["string", "null"], "now "],
    ["status has a new value", schema("WorkItemStatus", "enum", "-"), "paused", "now "],
    ["field has no format", property("WorkItem", "id", "format"), undefined, "removed"],
    ["field has another alternative", property("BatchResult", "data", "anyOf", "-"), { type: "string" }, "now "],
  ])("are found where a response's %s", (_, place, value, change) => {
    expect(after(place, value)).toContainEqual(expect.stringContaining(`${said(place)}: is ${change}`));
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
    [
      "a status of jobs, which requests filter by",
      schema("WorkItemUploadStatus"),
      withValue("WorkItemUploadStatus", "paused"),
    ],
    ["a type of webhooks, which requests name", schema("WebhookType"), withValue("WebhookType", "upload.started")],
    ["a status in responses", property("WorkItemUpload", "status", "x-extensible-enum", "-"), "paused"],
    ["a code of problems", schema("ProblemCode", "x-extensible-enum", "-"), "new"],
    ["another description", schema("WorkItem", "description"), "Else."],
  ])("are not: %s", (_, place, value) => {
    expect(after(place, value)).toEqual([]);
  });
});
