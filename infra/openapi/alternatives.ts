import { ATTRIBUTE_PREFIX, EVENT_FIELD_NAMES, ITEM_FIELD_NAMES } from "../../lib/uploads/csv/target.ts";
import type { Json } from "./schema-form.ts";

type Properties = Record<string, Json>;

function quoted(name: string): string {
  return name.replaceAll(".", String.raw`\.`);
}

/** A mapping has its own sources, or takes those of an earlier upload. */
function mappingAlternatives({ description, ...mapping }: Json): Json {
  const { from, ...properties } = mapping["properties"] as Properties;
  return {
    description,
    anyOf: [
      { title: "Column mapping", ...mapping, properties, required: ["fields"] },
      { title: "Mapping of an earlier upload", ...mapping, properties: { from }, required: ["from"] },
    ],
  };
}

/** Names the fields that may have sources. */
function withTargets(sources: Json, names: readonly string[], more: readonly string[] = []): Json {
  return {
    ...sources,
    properties: { external_id: sources["additionalProperties"] },
    propertyNames: { type: "string", pattern: `^(${[...names.map(quoted), ...more].join("|")})$` },
    required: ["external_id"],
  };
}

const ORIGINS = ["column", "columns", "value", "first_of"];
const NAMES = ["external_ids", "ids"];

/**
 * An object has exactly one of some keys. `oneOf` would be shorter, but generators make a class of each of its branches, with
 * only that one property.
 */
function withOneOf(keys: readonly string[], schema: Json): Json {
  const has = (...some: readonly string[]): Json => ({
    properties: Object.fromEntries(some.map((key) => [key, {}])),
    required: some,
  });
  const two = keys.flatMap((one, index) => keys.slice(index + 1).map((other) => has(one, other)));
  const none = { not: { anyOf: keys.map((key) => has(key)) } };
  return { ...schema, not: { anyOf: [...two, none] } };
}

/** Adds conditions between properties, which zod's schemas can't express. */
export function withAlternatives(schemas: Json): Json {
  const {
    WorkItemUploadMapping: mapping,
    WorkItemUploadMappingFields: fields,
    WorkItemUploadMappingEvent: event,
    WorkItemUploadMappingSource: source,
    GetWorkItemBatchRequest: found,
    DeleteWorkItemBatchRequest: deleted,
  } = schemas as Properties;
  return {
    ...schemas,
    WorkItemUploadMapping: mappingAlternatives(mapping ?? {}),
    WorkItemUploadMappingFields: withTargets(fields ?? {}, ITEM_FIELD_NAMES, [`${quoted(ATTRIBUTE_PREFIX)}.+`]),
    WorkItemUploadMappingEvent: withTargets(event ?? {}, EVENT_FIELD_NAMES),
    WorkItemUploadMappingSource: withOneOf(ORIGINS, source ?? {}),
    GetWorkItemBatchRequest: withOneOf(NAMES, found ?? {}),
    DeleteWorkItemBatchRequest: withOneOf(NAMES, deleted ?? {}),
  };
}
