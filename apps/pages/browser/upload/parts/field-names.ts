import type { WorkItem } from "work-items-client/client.ts";
import { ATTRIBUTE_PREFIX, EVENT_FIELD_NAMES, ITEM_FIELD_NAMES } from "@work-items/lib/uploads/csv/target.ts";
import type { Field } from "@work-items/lib/work-items/field-definition.ts";
import { EVENT_FIELDS, WORK_ITEM_FIELDS } from "@work-items/lib/work-items/work-item-fields.ts";
import { shownTime } from "./shown.ts";

/** The attribute that people call the subject. */
export const SUBJECT = `${ATTRIBUTE_PREFIX}short_description`;

/** What a column can become, as people call it. */
export const FIELD_NAMES: Readonly<Record<string, string>> = {
  external_id: "ID",
  ...Object.fromEntries(Object.entries(WORK_ITEM_FIELDS).map(([target, { label }]) => [target, label])),
  [SUBJECT]: "Subject",
  [`${ATTRIBUTE_PREFIX}description`]: "Description",
};

/** What a column can become in an event. */
export const EVENT_NAMES: Readonly<Record<string, string>> = {
  external_id: "Event ID",
  ...Object.fromEntries(Object.entries(EVENT_FIELDS).map(([target, { label }]) => [target, label])),
};

/** A field as the page calls it. */
export function fieldName(target: string): string {
  return FIELD_NAMES[target] ?? `Custom attribute “${target.replace(ATTRIBUTE_PREFIX, "")}”`;
}

/** What the page calls an item's own facts. */
const OWN_NAMES = new Set(
  [...Object.values(FIELD_NAMES), "Agent", "QA score", "Created", "Changed"].map((name) => name.toLowerCase()),
);

/** A field, or the bare name of a custom attribute, where it stands beside its value. It differs from all other names. */
export function labelOf(target: string): string {
  const name = target.replace(ATTRIBUTE_PREFIX, "");
  return FIELD_NAMES[target] ?? (OWN_NAMES.has(name.toLowerCase()) ? `${name} in the source system` : name);
}

/** A word of a choice, such as a status, as it is shown. */
export function shownChoice(choice: string): string {
  const text = choice.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The words of a choice, as options. */
export function choiceOptions(choices: readonly string[]): (readonly [string, string])[] {
  return choices.map((choice) => [choice, shownChoice(choice)]);
}

/** A value of a field or an attribute: a text unchanged, anything else as JSON. */
export function shownValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A person as lists show them. */
export function shownPerson({
  name,
  email,
  external_id: id,
}: Pick<WorkItem["agent"], "name" | "email" | "external_id">): string {
  return name ?? email ?? id ?? "";
}

/** The fields that are shown by name: all but those of the agent and the custom attributes. */
export const SHOWN_FIELDS = Object.entries<Field>(WORK_ITEM_FIELDS).filter(
  ([, { kind, person }]) => kind.name !== "json" && person === undefined,
);

/** The value of a field or a custom attribute, as it is shown. */
function shownTarget(target: string, value: unknown): string {
  const fields: Readonly<Record<string, Field>> = WORK_ITEM_FIELDS;
  const field = Object.hasOwn(fields, target) ? fields[target] : undefined;
  return field === undefined ? shownValue(value) : shownField(field, value);
}

/** The same, also of a field without a value. */
export function shownOrEmpty(target: string, value: unknown): string {
  return value === null || value === undefined ? "(empty)" : shownTarget(target, value);
}

/** The value of a field, as it is shown. */
export function shownField({ kind }: Field, value: unknown): string {
  const text = shownValue(value ?? "");
  if (kind.name === "time") return shownTime(text || null);
  return kind.choices === undefined ? text : shownChoice(text);
}

const NAME = new RegExp(String.raw`(?<![\w.])(?:${[...ITEM_FIELD_NAMES, ...EVENT_FIELD_NAMES].join("|")})(?=: )`, "g");
const PATH =
  /(?:upload\.)?(?:mapping\.)?\b(fields|event)(?:\.(\w+)|\["((?:[^"\\]|\\.)*)"\])((?:\.\w+|\["(?:[^"\\]|\\.)*"\]|\[\d+\])*)/g;
const OPTION = /\.values\["((?:[^"\\]|\\.)*)"\]$/;

/** A text of the service or the importer with the page's quotation marks. What is in them stays unchanged. */
export function inTypographicQuotes(text: string): string {
  return text.replaceAll(/“[^”]*”|"([^"]*)"|(?<=\w)'(?=\w)/g, (found, quoted?: string) =>
    quoted === undefined ? found.replace(/^'$/, "’") : `“${quoted}”`,
  );
}

/** A message of the service with the page's names of fields. */
export function inPageWords(message: string): string {
  const text = message
    .replaceAll(PATH, (_, kind: string, plain: string | undefined, quoted = "", options = "") => {
      const target = plain ?? quoted;
      const name = kind === "event" ? (EVENT_NAMES[target] ?? target) : fieldName(target);
      const [, value] = OPTION.exec(options) ?? [];
      return value === undefined ? name : `${name}, “${value}”`;
    })
    .replaceAll(NAME, (name) => FIELD_NAMES[name] ?? EVENT_NAMES[name] ?? name)
    .replaceAll(/\bcustom_attributes\.(\S+?)(?=: )/g, (_, name: string) => fieldName(ATTRIBUTE_PREFIX + name));
  return inTypographicQuotes(text);
}
