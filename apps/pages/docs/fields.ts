import { resolve, type Schema } from "./documented-operations.ts";

/** The name of a schema that is a component; undefined for an inline schema. */
function nameOf({ $ref: reference }: Schema): string | undefined {
  return reference?.split("/").at(-1);
}

function alternativesOf({ anyOf, oneOf }: Schema): readonly Schema[] {
  return anyOf ?? oneOf ?? [];
}

const NAMES_OF_FORMATS: Readonly<Record<string, string>> = {
  "date-time": "date and time",
  email: "email address",
  uuid: "UUID",
  uri: "URL",
  binary: "file",
};

/** A type in words, such as "array of objects or null". */
function typeOf(shown: Schema): string {
  const schema = resolve(shown);
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0) return [...new Set(alternatives.map(typeOf))].join(" or ");
  const types = [schema.type ?? "any"].flat();
  return types
    .map((type) => {
      if (type === "array" && schema.items)
        return `array of ${typeOf(schema.items).replace(/^(object|string)$/, "$1s")}`;
      return (type === "string" && NAMES_OF_FORMATS[schema.format ?? ""]) || type;
    })
    .join(" or ");
}

/** What a schema demands beyond its type. */
function limitsOf(shown: Schema): readonly string[] {
  const schema = resolve(shown);
  const { minimum, maximum, maxLength, maxItems, default: initial } = schema;
  const listed = resolve(schema.items ?? {});
  const known = schema["x-extensible-enum"] ?? listed["x-extensible-enum"];
  const values = schema.enum ?? listed.enum ?? known;
  const limits = [
    values && `one of ${values.map((each) => `\`${String(each)}\``).join(", ")}${known ? "; more may be added" : ""}`,
    schema.const !== undefined && `always \`${JSON.stringify(schema.const)}\``,
    minimum !== undefined &&
      maximum !== undefined &&
      maximum < Number.MAX_SAFE_INTEGER &&
      `${minimum.toLocaleString("en")} to ${maximum.toLocaleString("en")}`,
    maxLength !== undefined && schema.format === undefined && `at most ${maxLength.toLocaleString("en")} characters`,
    maxItems !== undefined && `at most ${maxItems.toLocaleString("en")}`,
    initial !== undefined && `default \`${JSON.stringify(initial)}\``,
  ].filter((limit) => typeof limit === "string");
  return [...alternativesOf(schema).flatMap(limitsOf), ...limits];
}

/** The schemas with properties in a schema: itself, or those of its entries or alternatives. */
function objectsOf(shown: Schema): readonly Schema[] {
  const schema = resolve(shown);
  if (schema.properties) return [shown];
  if (schema.items) return objectsOf(schema.items);
  return alternativesOf(schema).flatMap(objectsOf);
}

/** The last sentence of descriptions of what goes beyond the interface. */
const EXTENSION = /\s*Extension\.$/;

/** A description without the sentence that says that it is an extension, and whether it had it. */
export function splitExtension(description: string): readonly [text: string, isExtension: boolean] {
  return [description.replace(EXTENSION, ""), EXTENSION.test(description)];
}

/** An entry of a list in Markdown: a value's name, type, limits and description, and the fields in it. */
export function fieldEntry(name: string, schema: Schema, isRequired: boolean, description = "", inner = ""): string {
  const [text, isExtension] = splitExtension(description);
  const type = [typeOf(schema), ...limitsOf(schema)].join("; ");
  const labels = `${isRequired ? " **required**" : ""}${isExtension ? " _extension_" : ""}`;
  return `- \`${name}\` _${type}_${labels}${text && `  \n  ${text}`}${inner && `\n${indented(inner)}`}`;
}

function indented(lines: string): string {
  return lines.replaceAll(/^/gm, "  ");
}

/** Named schemas whose fields a page has listed, each with the value that has them. */
export type ListedSchemas = Map<string, string>;

/**
 * The fields of a value as a list in Markdown, each with the fields in it. Each alternative has its own list.
 * @param listed fields that aren't listed again
 */
export function fieldEntries(schema: Schema, isRequest: boolean, listed: ListedSchemas, owner = "body"): string {
  const objects = objectsOf(schema);
  const named = objects.length > 0 ? nameOf(schema) : undefined;
  const names = new Set([named, ...(objects.length === 1 ? objects.map(nameOf) : [])]);
  for (const name of [...names].filter((each) => each !== undefined)) {
    const same = listed.get(name);
    if (same !== undefined) return `Has the fields of \`${same}\`.`;
    listed.set(name, owner);
  }
  const lists = objects.map((each, index) => {
    const { properties = {}, required = [], title = index === 0 ? "Either" : "Or" } = resolve(each);
    const entries = Object.entries(properties).map(([name, property]) => {
      const inner = fieldEntries(property, isRequest, listed, name);
      return fieldEntry(name, property, isRequest && required.includes(name), resolve(property).description, inner);
    });
    return objects.length === 1 ? entries.join("\n") : `- ${title}:\n${indented(entries.join("\n"))}`;
  });
  return lists.join("\n");
}
