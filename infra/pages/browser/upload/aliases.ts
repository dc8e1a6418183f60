import { comparable } from "../../../../lib/uploads/csv/header-names.ts";
import type { Source } from "../../../../lib/uploads/mapping/mapping.ts";

/** The aliases of a source in which a text has another one, however it is spelled there; none if it is undefined. */
export function withAlias({ values = {} }: Source, text: string, alias: string | undefined): Record<string, string> {
  const others = Object.entries(values).filter(([each]) => comparable(each) !== comparable(text));
  return Object.fromEntries(alias === undefined ? others : [...others, [text, alias]]);
}

/** What a text becomes by its alias; undefined if it has none. */
export function aliasOf({ values = {} }: Source, text: string): string | undefined {
  return Object.entries(values).find(([each]) => comparable(each) === comparable(text))?.[1];
}
