import { ITEM_FIELD_NAMES } from "../../lib/uploads/csv/target.ts";
import type { OpenApiDocument } from "./document.ts";
import { isObject, type Json, KNOWN_VALUES, propertiesOf, requiredOf, signsOf } from "./schema-form.ts";

/** A property's type. An optional one may be undefined too: in JSON both are absent. */
function valueOf(type: string, isRequired: boolean): string {
  return isRequired ? `: ${type};` : `?: ${type} | undefined;`;
}
function nameOf(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key);
}
function commentOf({ description }: Json): string {
  return typeof description === "string"
    ? `/** ${description.replaceAll("*/", "*\\/").replaceAll(/\s+/g, " ")} */\n`
    : "";
}
/** An object type. Each member has its own lines, so that merges don't conflict. */
function block(members: readonly string[]): string {
  return `{\n${members.join("\n").replaceAll(/^(?=.)/gm, "  ")}\n}`;
}
function literal(value: unknown): string {
  return JSON.stringify(value);
}
/** A text at a key, such as the name of a parameter. */
function textAt(object: Json, key: string): string {
  const text = object[key];
  return typeof text === "string" ? text : "";
}
/** A union of types: just `string` if it is among them, because literals then add nothing. */
function union(types: readonly string[]): string {
  return types.includes("(string)") ? "string" : [...new Set(types)].join(" | ");
}

const SCALARS: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
};

function objectType(schema: Json): string {
  const required = requiredOf(schema);
  const fields = Object.entries(propertiesOf(schema)).map(
    ([key, value]) => `${commentOf(value)}${nameOf(key)}${valueOf(typeOf(value), required.has(key))}`,
  );
  const others = schema["additionalProperties"];
  let index: string | undefined;
  if (others === true) index = "unknown";
  else if (isObject(others)) index = typeOf(others);
  if (fields.length === 0) return `Record<string, ${index ?? "unknown"}>`;
  const named = block(fields);
  return index === undefined ? named : `${named} & Record<string, ${index}>`;
}

function typeOfKind(type: unknown, schema: Json): string {
  if (type === "object") return objectType(schema);
  if (type === "array") return `(${typeOf(schema["items"])})[]`;
  if (schema["format"] === "binary") return "Blob";
  const signs = signsOf(schema);
  if (signs.length > 0) return union(signs.map(literal));
  return (typeof type === "string" ? SCALARS[type] : undefined) ?? "unknown";
}

/** The TypeScript type of the values that a schema admits. */
function typeOf(schema: unknown): string {
  if (!isObject(schema)) return "unknown";
  // Clients don't check what they get, so an unknown value breaks nothing.
  const { $ref: reference, const: constant, [KNOWN_VALUES]: knownValues, enum: values = knownValues, type } = schema;
  if (typeof reference === "string") return reference.replace("#/components/schemas/", "");
  if (constant !== undefined) return literal(constant);
  if (Array.isArray(values)) return union(values.map(literal));
  const branches = schema["anyOf"] ?? schema["oneOf"];
  // Next to a type, they only say which properties go together.
  if (Array.isArray(branches) && type === undefined) return union(branches.map((branch) => `(${typeOf(branch)})`));
  if (Array.isArray(type)) return union(type.map((kind) => typeOfKind(kind, schema)));
  return typeOfKind(type, schema);
}

function contentType(content: unknown): string {
  return isObject(content)
    ? `content: ${block(
        Object.entries(content).map(
          ([type, value]) => `${literal(type)}: ${typeOf(isObject(value) ? value["schema"] : undefined)};`,
        ),
      )};`
    : "content?: never;";
}

/** Follows a reference to a component. */
function componentOf(document: OpenApiDocument, value: unknown): Json {
  if (!isObject(value)) return {};
  const [, kind, name] = /^#\/components\/(\w+)\/(.+)$/.exec(textAt(value, "$ref")) ?? [];
  if (kind === undefined || name === undefined) return value;
  return (document.components as Readonly<Record<string, Readonly<Record<string, Json>>>>)[kind]?.[name] ?? {};
}

function parametersType(parameters: readonly Json[]): string {
  const locations = ["query", "header", "path"].map((location) => {
    const found = parameters.filter((parameter) => parameter["in"] === location);
    const fields = found.map(
      (parameter) =>
        `${commentOf(parameter)}${nameOf(textAt(parameter, "name"))}${valueOf(typeOf(parameter["schema"]), parameter["required"] === true)}`,
    );
    if (fields.length === 0) return `${location}?: never;`;
    const isRequired = found.some((parameter) => parameter["required"] === true);
    return `${location}${isRequired ? "" : "?"}: ${block(fields)};`;
  });
  return `parameters: ${block([...locations, "cookie?: never;"])};`;
}

function operationType(document: OpenApiDocument, operation: Json): string {
  const { parameters, requestBody, responses } = operation;
  const body = isObject(requestBody)
    ? `requestBody: ${block([contentType(requestBody["content"])])};`
    : "requestBody?: never;";
  const all = (Array.isArray(parameters) ? parameters : []).map((parameter) => componentOf(document, parameter));
  const statuses = Object.entries(isObject(responses) ? responses : {}).map(
    ([status, response]) =>
      `${status}: ${block(["headers: Record<string, unknown>;", contentType(componentOf(document, response)["content"])])};`,
  );
  return block([parametersType(all), body, `responses: ${block(statuses)};`]);
}

/**
 * The types of a document as openapi-fetch needs them: a type for each schema, `operations` by id, and `paths`.
 * openapi-typescript makes the same, but needs a TypeScript of its own.
 */
export function clientTypesOf(document: OpenApiDocument): string {
  const schemas = Object.entries(document.components.schemas as Record<string, Json>).map(
    ([name, schema]) => `${commentOf(schema)}export type ${name} = ${typeOf(schema)};`,
  );
  const operations = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(
      (operation) => `${textAt(operation, "operationId")}: ${operationType(document, operation)};`,
    ),
  );
  const paths = Object.entries(document.paths).map(([path, methods]) => {
    const keys = Object.entries(methods).map(
      ([method, { operationId }]) => `${method}: operations[${literal(operationId)}];`,
    );
    return `${literal(path)}: ${block(keys)};`;
  });
  return `${[
    "// Generated from docs/openapi.json by npm run openapi.",
    ...schemas,
    `/** Names of the fields of a work item that can be written. */\nexport const WORK_ITEM_FIELD_NAMES = ${JSON.stringify(ITEM_FIELD_NAMES, null, 2)} as const;`,
    `/** All endpoints by their operation ids. */\nexport interface operations ${block(operations)}`,
    `/** All endpoints by path and method. */\nexport interface paths ${block(paths)}`,
  ].join("\n\n")}\n`;
}
