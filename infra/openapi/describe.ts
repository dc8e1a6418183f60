import { BODY_DESCRIPTIONS, PARAMETER_DESCRIPTIONS, SCHEMA_DESCRIPTIONS } from "./descriptions.ts";
import { examples } from "../../functions/routes/examples.ts";
import { isObject, type Json, propertiesOf } from "./schema-form.ts";

/** A schema, property or parameter has no description, or a description has no schema. */
class DescriptionError extends Error {}

/** Schemas whose descriptions hold for properties of another schema that have none of their own. */
const SAME_AS: Readonly<Record<string, string>> = {
  WorkItemPatch: "WorkItemInput",
  WorkItemWithEvents: "WorkItem",
  WorkItemChange: "WorkItem",
  ConversationUploadListItem: "ConversationUpload",
  WorkItemUploadWithMapping: "WorkItemUpload",
};

function descriptionOf(schema: string, property: string): string | undefined {
  return SCHEMA_DESCRIPTIONS[schema]?.[property] ?? SCHEMA_DESCRIPTIONS[SAME_AS[schema] ?? ""]?.[property];
}

function isBody(name: string): boolean {
  return /(Request|ResponseBody)$/.test(name);
}

/** Describes the properties of a whole body. Those of a new endpoint may bring their own in their `meta`. */
function describeBody(body: Json, path = ""): Json {
  return {
    ...body,
    ...(isObject(body["properties"]) && {
      properties: Object.fromEntries(
        Object.entries(propertiesOf(body)).map(([name, property]) => {
          const place = path === "" ? name : `${path}.${name}`;
          if (property["$ref"] !== undefined || property["description"] !== undefined) return [name, property];
          const description = BODY_DESCRIPTIONS[place];
          return [name, { ...describeBody(property, place), ...(description !== undefined && { description }) }];
        }),
      ),
    }),
  };
}

const COMPLETION = { status: "completed", completed_at: "2026-03-01T11:30:00+01:00" };

/** Values of properties that examples show, by schema. */
const EXAMPLES: Readonly<Record<string, object>> = {
  Person: examples.item.agent,
  WorkItem: examples.completed,
  WorkItemWithEvents: examples.completed,
  WorkItemChange: { ...examples.completed, sequence: 1_772_361_000_456_000 },
  WorkItemInput: { ...examples.itemInput, ...COMPLETION },
  WorkItemPatch: { ...examples.itemInput, ...COMPLETION },
  WorkItemEvent: examples.event,
  WorkItemEventInput: { ...examples.eventInput, actor_email: "bob@example.com", actor_external_id: "agent-8" },
  WorkItemUpload: { ...examples.completedJob, error: 'row 1: unknown column "colour"' },
  ConversationUpload: examples.conversation,
  ConversationUploadListItem: examples.listedConversation,
  ProblemDetail: { ...examples.problem, parameter: "cursor" },
};

function exampleOf(schema: string, property: string): Json {
  const value = (EXAMPLES[schema] as Json | undefined)?.[property];
  return ["string", "number", "boolean"].includes(typeof value) ? { examples: [value] } : {};
}

/** Adds the descriptions, beside references too, which OpenAPI 3.1 allows. Schemas may bring their own in their `meta`. */
function describeOne(name: string, schema: Json): Json {
  const about = descriptionOf(name, "") ?? schema["description"];
  const properties = propertiesOf(schema);
  const described = Object.entries(properties).map(
    ([property, { description: own, ...value }]) => [property, value, descriptionOf(name, property) ?? own] as const,
  );
  const missing = [
    ...(about === undefined ? [name] : []),
    ...described.flatMap(([property, , description]) => (description === undefined ? [`${name}.${property}`] : [])),
  ];
  if (missing.length > 0)
    throw new DescriptionError(`describe by meta({ description }) or in descriptions.ts: ${missing.join(", ")}`);
  const unknown = Object.keys(SCHEMA_DESCRIPTIONS[name] ?? {}).filter(
    (property) => property !== "" && !Object.hasOwn(properties, property),
  );
  if (unknown.length > 0) throw new DescriptionError(`${name} has no ${unknown.join(", ")}: see descriptions.ts`);
  return {
    ...schema,
    description: about,
    ...(isObject(schema["properties"]) && {
      properties: Object.fromEntries(
        described.map(([property, value, description]) => [
          property,
          { ...value, description, ...exampleOf(name, property) },
        ]),
      ),
    }),
  };
}

/**
 * Names for the values of an enumeration that are unique in the document, because generators for Go make constants of
 * them that all schemas share: `WORK_ITEM_STATUS_PENDING`.
 */
function withEnumNames(name: string, schema: Json): Json {
  const values = schema["enum"];
  if (!Array.isArray(values)) return schema;
  const constant = (text: string): string => text.replaceAll(/(?<=[a-z])[A-Z]/g, "_$&").toUpperCase();
  return { ...schema, "x-enum-varnames": values.map((value) => constant(`${name}_${String(value)}`)) };
}

/** Describes all schemas. @throws DescriptionError naming what has no description, and descriptions of nothing */
export function describe(schemas: Json): Json {
  const unknown = Object.keys(SCHEMA_DESCRIPTIONS).filter((name) => !Object.hasOwn(schemas, name));
  if (unknown.length > 0) throw new DescriptionError(`there is no ${unknown.join(", ")}: see descriptions.ts`);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      isBody(name) ? describeBody(schema as Json) : withEnumNames(name, describeOne(name, schema as Json)),
    ]),
  );
}

/** Values of query parameters in examples. A cursor has none: only one that a response held is valid. */
const PARAMETER_EXAMPLES: Readonly<Record<string, unknown>> = {
  limit: 50,
  external_id: examples.item.external_id,
  agent_email: examples.item.agent.email,
  agent_external_id: examples.item.agent.external_id,
  type: examples.item.type,
  status: "completed",
  completed_from: "2026-03-01T00:00:00Z",
  completed_to: "2026-04-01T00:00:00Z",
};

/** Describes path and query parameters. @param id example of the path parameter `id` @throws DescriptionError */
export function describeParameters(parameters: readonly Json[], id: string | undefined): Json[] {
  return parameters.map((parameter) => {
    const name = String(parameter["name"]);
    const { description: ofSchema, ...schema } = parameter["schema"] as Json;
    const description = ofSchema ?? parameter["description"] ?? PARAMETER_DESCRIPTIONS[name];
    if (description === undefined) {
      throw new DescriptionError(`describe the parameter ${name} by meta({ description }) of its schema`);
    }
    const example = name === "id" ? id : PARAMETER_EXAMPLES[name];
    return { ...parameter, schema, description, ...(example !== undefined && { example }) };
  });
}
