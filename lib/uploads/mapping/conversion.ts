import type * as z from "zod";
import { parseJsonObject } from "../../json.ts";
import { externalId } from "../../scalars.ts";
import { EVENT_FIELDS, WORK_ITEM_FIELDS } from "../../work-items/work-item-fields.ts";
import { comparable } from "../csv/header-names.ts";
import { isTime, type Target } from "../csv/target.ts";
import { readValue } from "./cell-value.ts";
import { createTimeReader } from "./date-time.ts";
import type { Mapping, Source } from "./mapping.ts";

/** The function that replaces texts by their aliases. An alias may be empty: then the field is left out. */
export const createAliases = ({ values, otherwise }: Source): ((text: string) => string) => {
  if (values === undefined && otherwise === undefined) return (text) => text;
  const aliases = new Map(Object.entries(values ?? {}).map(([text, alias]) => [comparable(text), alias]));
  return (text) => aliases.get(comparable(text)) ?? otherwise ?? text;
};

/**
 * The function that converts a text to the value of a target.
 * @returns a function that throws an Error which says what the text must be
 */
export const createConversion = (
  target: Target,
  { format = "iso", time_zone: timeZone, as = "text" }: Source,
  { decimal = "." }: Mapping,
): ((text: string) => unknown) => {
  if (isTime(target)) return createTimeReader({ format, timeZone }, decimal);
  if (target.kind === "attribute") return as === "text" ? (text) => text : (text) => readValue(text, as, decimal);
  if (target.kind === "field" && target.name === "custom_attributes") return parseJsonObject;
  return (text) => text;
};

/** The schema of a target's values; null if a custom attribute may have any. */
export const schemaOf = (target: Target): z.ZodType | null => {
  if (target.kind === "attribute") return null;
  if (target.name === "external_id") return externalId;
  return target.kind === "event" ? EVENT_FIELDS[target.name].input() : WORK_ITEM_FIELDS[target.name].input();
};
