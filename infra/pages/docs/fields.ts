import { type Html, html } from "./html.ts";
import { renderLine } from "./markdown.ts";
import { resolve, type Schema } from "./operations.ts";

/** The name of a schema that is a component; undefined for one in place. */
function nameOf({ $ref: reference }: Schema): string | undefined {
  return reference?.split("/").at(-1);
}

/** The alternatives of a schema, without null. */
function alternativesOf(schema: Schema): readonly Schema[] {
  return (schema.anyOf ?? schema.oneOf ?? []).filter(({ type }) => type !== "null");
}

function allowsNull({ type, anyOf, oneOf }: Schema): boolean {
  if (Array.isArray(type)) return type.includes("null");
  return (anyOf ?? oneOf ?? []).some((each) => each.type === "null");
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
  if (alternatives.length > 0) {
    const names = [...new Set(alternatives.map(typeOf))];
    return [...names, ...(allowsNull(schema) ? ["null"] : [])].join(" or ");
  }
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
function limitsOf(shown: Schema): string[] {
  const schema = resolve(shown);
  const { minimum, maximum, maxLength, maxItems, default: initial } = schema;
  const listed = resolve(schema.items ?? {});
  const known = schema["x-extensible-enum"] ?? listed["x-extensible-enum"];
  const values = schema.enum ?? listed.enum ?? known;
  const hasFormat = schema.format !== undefined;
  return [
    ...(values
      ? [`one of ${values.map((each) => `\`${String(each)}\``).join(", ")}${known ? "; more may be added" : ""}`]
      : []),
    ...(schema.const === undefined ? [] : [`always \`${JSON.stringify(schema.const)}\``]),
    ...(minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
      ? [`${minimum.toLocaleString("en")} to ${maximum.toLocaleString("en")}`]
      : []),
    ...(maxLength === undefined || hasFormat ? [] : [`at most ${maxLength.toLocaleString("en")} characters`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems.toLocaleString("en")}`]),
    ...(initial === undefined ? [] : [`default \`${JSON.stringify(initial)}\``]),
  ];
}

/** The schemas with properties that a value consists of: itself, its entries or its alternatives. */
function objectsOf(shown: Schema): readonly Schema[] {
  const schema = resolve(shown);
  if (schema.properties) return [shown];
  if (schema.items) return objectsOf(schema.items);
  return alternativesOf(schema).flatMap(objectsOf);
}

/** Ends the description of what goes beyond the interface. */
const EXTENSION = /\s*Extension\.$/;

/** A description without the sentence that makes it an extension's, and the mark that pages show in its place. */
export function markExtension(description: string): readonly [text: string, mark: Html | undefined] {
  const mark = EXTENSION.test(description) ? html`<span class="tag">extension</span>` : undefined;
  return [description.replace(EXTENSION, ""), mark];
}

/** The name, type, limits and description of one value. */
export function fieldHead(name: string, schema: Schema, isRequired: boolean, description = ""): Html {
  const limits = limitsOf(schema);
  const [text, mark] = markExtension(description);
  return html`<dt>
      <code>${name}</code> <span class="type">${typeOf(schema)}</span>
      ${isRequired && html`<span class="required">required</span>`} ${mark}
    </dt>
    <dd>
      ${renderLine(text)} ${limits.length > 0 && html`<span class="limits">${renderLine(limits.join("; "))}</span>`}
    </dd>`;
}

/**
 * The fields of an object as a list; those of objects in it can be opened.
 * @param within names of the schemas around it, whose fields are not listed again
 */
function fieldList(shown: Schema, isRequest: boolean, within: readonly string[] = []): Html {
  const schema = resolve(shown);
  const required = new Set(isRequest ? schema.required : []);
  return html`<dl class="fields">
    ${Object.entries(schema.properties ?? {}).map(([name, property]) => [
      fieldHead(name, property, required.has(name), resolve(property).description),
      objectsOf(property).map((each) => {
        const known = nameOf(each);
        if (known !== undefined && within.includes(known)) {
          return html`<dd class="note">Has the fields of the value around it.</dd>`;
        }
        const title = resolve(each).title;
        return html`<dd>
          <details>
            <summary>Fields of <code>${name}</code>${title !== undefined && `: ${title.toLowerCase()}`}</summary>
            ${fieldList(each, isRequest, known === undefined ? within : [...within, known])}
          </details>
        </dd>`;
      }),
    ])}
  </dl>`;
}

/**
 * The fields of a body as lines of Markdown, each below the value that has it.
 * @param within names of the schemas around it, whose fields are not listed again
 */
export function fieldLines(schema: Schema, isRequest: boolean, within: readonly string[] = []): string {
  const indent = "  ".repeat(within.length);
  const lines = objectsOf(schema).flatMap((each) => {
    const known = nameOf(each) ?? "";
    if (known !== "" && within.includes(known)) return [];
    const { properties = {}, required = [] } = resolve(each);
    return Object.entries(properties).map(([name, property]) => {
      const { description = "" } = resolve(property);
      const notes = [
        typeOf(property),
        ...(isRequest && required.includes(name) ? ["required"] : []),
        ...limitsOf(property),
      ];
      const inner = fieldLines(property, isRequest, [...within, known]);
      return `${indent}- \`${name}\` (${notes.join("; ")}): ${description}${inner && `\n${inner}`}`;
    });
  });
  return lines.join("\n");
}

/** The fields of a body: of each form that it may have. */
export function bodyFields(schema: Schema, isRequest: boolean): Html {
  const objects = objectsOf(schema);
  return html`${objects.map((each) => {
    const { title } = resolve(each);
    return html`${objects.length > 1 && title !== undefined && html`<h3>${title}</h3>`}${fieldList(each, isRequest)}`;
  })}`;
}
