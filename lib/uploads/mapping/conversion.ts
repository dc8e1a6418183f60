import type * as z from "zod";
import { externalId } from "../../schema.ts";
import { inputOf } from "../../work-items/field-definition.ts";
import { comparable } from "../csv/header-names.ts";
import { fieldOf, isTime, readCell, type Target } from "../csv/target.ts";
import { readValue } from "../../cell-value.ts";
import { createTimeReader } from "./date-time.ts";
import type { Mapping, Source } from "./mapping.ts";

/** The aliases of a source. */
export interface Aliases {
  /** Number of characters of the longest text that has an alias of its own. */
  readonly longest: number;
  /**
   * The alias of a text, or `otherwise`; undefined if the text stays as it is. If the alias is empty, the field is left out.
   * @param text as `comparable` makes it; null if it is longer than the longest
   */
  readonly find: (text: string | null) => string | undefined;
}

export function createAliases({ values = {}, otherwise }: Source): Aliases {
  const aliases = new Map(Object.entries(values).map(([text, alias]) => [comparable(text), alias]));
  const longest = [...aliases.keys()].reduce((most, text) => Math.max(most, text.length), 0);
  return {
    longest,
    find: (text) => (text === null || text.length > longest ? undefined : aliases.get(text)) ?? otherwise,
  };
}

/**
 * The function that converts a text to the value of a target.
 * @returns a function that throws an Error which says what the text must be
 */
export function createConversion(
  target: Target,
  { format = "iso", time_zone: timeZone, as = "text" }: Source,
  { decimal = "." }: Mapping,
): (text: string) => unknown {
  if (isTime(target)) return createTimeReader({ format, timeZone }, decimal);
  return target.kind === "attribute"
    ? (text) => readValue(text, as, decimal)
    : (text) => readCell(target, text, decimal);
}

/** The schema of a target's values; null if a custom attribute may have any. */
export function schemaOf(target: Target): z.ZodType | null {
  if (target.kind === "attribute") return null;
  const field = fieldOf(target);
  return field === undefined ? externalId : inputOf(field);
}
