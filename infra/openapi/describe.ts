import { examples } from "../../functions/routes/examples.ts";
import { ENUM_NAMES, type Json, propertiesOf } from "./schema-form.ts";

/** A schema, property or parameter has no description. */
class DescriptionError extends Error {}

function isBody(name: string): boolean {
  return /(Request|ResponseBody)$/.test(name);
}

const COMPLETION = { status: "completed", completed_at: "2026-03-01T11:30:00+01:00" };

/** Example values of properties, by schema. */
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

function isDescribed({ description }: Json): boolean {
  return description !== undefined;
}

/** Adds examples. OpenAPI 3.1 allows a description next to a reference. */
function describeOne(name: string, schema: Json): Json {
  const properties = Object.entries(propertiesOf(schema));
  const missing = [
    ...(isDescribed(schema) ? [] : [name]),
    ...properties.flatMap(([property, value]) => (isDescribed(value) ? [] : [`${name}.${property}`])),
  ];
  if (missing.length > 0) throw new DescriptionError(`describe by meta({ description }): ${missing.join(", ")}`);
  return {
    ...schema,
    ...(properties.length > 0 && {
      properties: Object.fromEntries(
        properties.map(([property, value]) => [property, { ...value, ...exampleOf(name, property) }]),
      ),
    }),
  };
}

/**
 * Adds names for an enumeration's values, such as `WORK_ITEM_STATUS_PENDING`. They are unique in the document, because
 * generators for Go make constants of them that all schemas share.
 */
function withEnumNames(name: string, schema: Json): Json {
  const values = schema["enum"];
  if (!Array.isArray(values)) return schema;
  const constant = (text: string): string =>
    text.replaceAll(/(?<=[a-z])[A-Z]|\W/g, (found) => `_${found.replace(/\W/, "")}`).toUpperCase();
  return { ...schema, [ENUM_NAMES]: values.map((value) => constant(`${name}_${String(value)}`)) };
}

/** Adds examples to all schemas. @throws DescriptionError naming what has no description */
export function describe(schemas: Json): Json {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      isBody(name) ? schema : withEnumNames(name, describeOne(name, schema as Json)),
    ]),
  );
}

/** Example values of query parameters. `cursor` has none: only a cursor from a response is valid. */
const PARAMETER_EXAMPLES: Readonly<Record<string, unknown>> = {
  ...examples.itemInput,
  event_id: examples.ids.event,
  limit: 50,
  status: "completed",
  completed_from: "2026-03-01T00:00:00Z",
  completed_to: "2026-04-01T00:00:00Z",
};

/** Describes path and query parameters. @param id example of the path parameter `id` @throws DescriptionError */
export function describeParameters(parameters: readonly Json[], id: string | undefined): Json[] {
  return parameters.map((parameter) => {
    const name = String(parameter["name"]);
    const { description: ofSchema, ...schema } = parameter["schema"] as Json;
    const description = ofSchema ?? parameter["description"];
    if (description === undefined) {
      throw new DescriptionError(`describe the parameter ${name} by meta({ description }) of its schema`);
    }
    const value = name === "id" ? id : PARAMETER_EXAMPLES[name];
    const example = schema["type"] === "array" && value !== undefined ? [value] : value;
    return { ...parameter, schema, description, ...(example !== undefined && { example }) };
  });
}
