import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { CHOICE_FIELDS, meaningsIn } from "@work-items/importer/proposals/known-choices.ts";
import {
  canBeLeft,
  fieldsOfTarget,
  ITEM_TARGETS,
  sourcesOf,
  type TargetName,
} from "@work-items/importer/proposals/target-states.ts";
import * as z from "zod";
import { columnIndex, comparable, numberedNames } from "@work-items/lib/uploads/csv/header-names.ts";
import { fieldOf, itemTarget } from "@work-items/lib/uploads/csv/target.ts";
import type { Mapping, Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { isTimeZone } from "@work-items/lib/uploads/mapping/time-zone.ts";
import { keep, readKept } from "../../kept.ts";
import type { Answered } from "./answers.ts";
import { zoneOf } from "./compare-mappings.ts";
import type { Api } from "../parts/api.ts";
import { withMadeId, withSource } from "./column-roles.ts";
import { keyOf, namesIn, valuesAt, withAlias, withKey } from "./sources.ts";
import type { SurveyedTable } from "./table-file.ts";
import { withColumns, withDecision, withNothing, withValue } from "./target-choices.ts";

/** Further files replace the one that was sent the longest time ago. */
const FILES_MAX = 50;
/** Further choices replace the first ones of a file. */
const CHOICES_MAX = 200;

/** What sets a field: columns by their indexes, several at once for a date and its time of day; or a value. The names and values of a file aren't kept, only their digests. */
const sourceSchema = z.union([
  z.object({ columns: z.array(z.array(z.int())).min(1), prefix: z.string().optional() }),
  z.object({ value: z.string() }),
]);
type KeptSource = z.output<typeof sourceSchema>;
/** What is kept of files with the same columns. */
const fileSchema = z.object({
  columns: z.string(),
  /** What was decided about the targets, by field; null for a target that is left empty. */
  decided: z.record(z.string(), z.record(z.string(), sourceSchema).nullable()),
  /** What a person chose for values of fields with choices, by the values' digests. */
  choices: z.record(z.string(), z.string()),
  zone: z.string().refine(isTimeZone).optional(),
  importId: z.string().optional(),
});
type KeptFile = z.output<typeof fileSchema>;

/** Where this browser keeps what was decided about the organization's files. */
function nameOf(api: Pick<Api, "name">): string {
  return `work-items-targets-${api.name}`;
}

/** The same for the same texts. Doesn't reveal them. */
function digestOf(...texts: readonly string[]): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(texts.map(comparable))))).slice(0, 32);
}

function filesIn(api: Pick<Api, "name">): KeptFile[] {
  try {
    return z.array(fileSchema).parse(JSON.parse(readKept(() => localStorage, nameOf(api)) ?? "[]"));
  } catch {
    // Another version of the page may have kept something else.
    return [];
  }
}

/** What this browser keeps of the last file with the same columns. */
export function rememberedFile(api: Pick<Api, "name">, { names }: SurveyedTable): KeptFile {
  const digest = digestOf(...names);
  return filesIn(api).find(({ columns }) => columns === digest) ?? { columns: digest, decided: {}, choices: {} };
}

/** Keeps something of a file for other files with the same columns. */
export function keepFile(api: Pick<Api, "name">, table: SurveyedTable, changes: Partial<KeptFile>): void {
  const file = { ...rememberedFile(api, table), ...changes };
  const others = filesIn(api).filter(({ columns }) => columns !== file.columns);
  keep(() => localStorage, nameOf(api), JSON.stringify([...others, file].slice(-FILES_MAX)));
}

/** What is kept of a source; undefined if the page couldn't make it again, or if it names a person. */
function keptOf({ names }: SurveyedTable, field: string, source: Source): KeptSource | undefined {
  const target = itemTarget(field);
  const isPerson = target !== undefined && fieldOf(target)?.person !== undefined;
  if (source.value !== undefined) return isPerson ? undefined : { value: source.value };
  const singles = (source.first_of ?? [source]).map(keyOf);
  const columns = source.columns && field === "external_id" ? source.columns : singles;
  const indexes = columns.map((key) => namesIn(key).map((column) => columnIndex(names, column)));
  if (indexes.flat().includes(-1)) return undefined;
  return { columns: indexes, ...(source.prefix !== undefined && { prefix: source.prefix }) };
}

type KeptSources = KeptFile["decided"][string];

/** What is kept of a target's sources; null if it has none, undefined if something of them can't be kept. */
function keptSources(table: SurveyedTable, mapping: Mapping, target: TargetName): KeptSources | undefined {
  const sources = sourcesOf(target, { names: table.names, mapping });
  if (sources.length === 0) return null;
  const kept: Record<string, KeptSource> = {};
  for (const [field, source] of sources) {
    const own = keptOf(table, field, source);
    if (own === undefined) return undefined;
    kept[field] = own;
  }
  return kept;
}

/** The choices of a mapping that aren't proposed. */
function choicesIn({ fields = {} }: Mapping): (readonly [string, string])[] {
  return CHOICE_FIELDS.flatMap((field) => {
    const { values = {} } = fields[field] ?? {};
    const meaningOf = meaningsIn(field, Object.keys(values));
    const own = Object.entries(values).filter(([value, choice]) => meaningOf(value) !== choice);
    return own.map(([value, choice]) => [digestOf(field, value), choice] as const);
  });
}

/** The answers with the choices that a person made for the same values of earlier files. */
function withChoices(table: SurveyedTable, answered: Answered, choices: Readonly<Record<string, string>>): Answered {
  const { mapping } = answered;
  const fields = CHOICE_FIELDS.flatMap((field) => {
    const source = mapping.fields?.[field];
    if (source?.column === undefined) return [];
    const texts = valuesAt(table, columnIndex(table.names, source.column), mapping.empty ?? []);
    const values = texts.reduce((all, text) => {
      const choice = choices[digestOf(field, text)];
      return choice === undefined ? all : withAlias({ values: all }, [text], choice);
    }, source.values);
    return [[field, withKey(source, "values", values)] as const];
  });
  return { ...answered, mapping: { ...mapping, fields: { ...mapping.fields, ...Object.fromEntries(fields) } } };
}

/** The time zone of the last file with the same columns, else of the last one. */
export function rememberedZone(api: Pick<Api, "name">, table: SurveyedTable): string | undefined {
  return rememberedFile(api, table).zone ?? filesIn(api).findLast(({ zone }) => zone !== undefined)?.zone;
}

/** Keeps what a person decided about a file for other files with the same columns. */
export function remember(api: Pick<Api, "name">, table: SurveyedTable, { mapping, decisions }: Answered): void {
  const decided: Record<string, KeptSources> = {};
  for (const target of ITEM_TARGETS) {
    const kept = decisions[target] === undefined ? undefined : keptSources(table, mapping, target);
    if (kept !== undefined) decided[target] = kept;
  }
  const before = rememberedFile(api, table);
  const choices = Object.fromEntries([...Object.entries(before.choices), ...choicesIn(mapping)].slice(-CHOICES_MAX));
  keepFile(api, table, { decided, choices, zone: zoneOf(mapping) ?? before.zone });
}

/** The answers with a target decided as it was for an earlier file. */
function withKept(table: SurveyedTable, answered: Answered, target: TargetName, { decided, zone }: KeptFile): Answered {
  const kept = decided[target] ?? null;
  if (kept === null) return canBeLeft(target) ? withNothing(table, answered, target) : answered;
  const isProposed = JSON.stringify(keptSources(table, answered.mapping, target)) === JSON.stringify(kept);
  if (isProposed) return withDecision(answered, target, "as mapped");
  const names = numberedNames(table.names);
  const fields = fieldsOfTarget(target);
  let next = fields.reduce((each, field) => withColumns(table, each, target, field, []), answered);
  for (const [field, source] of Object.entries(kept)) {
    if (!fields.includes(field)) continue;
    if ("value" in source) {
      next = withValue(table, next, target, field, source.value);
      continue;
    }
    const columns = source.columns.map((indexes) => keyOf({ columns: indexes.flatMap((index) => names[index] ?? []) }));
    const isMade = target === "external_id" && columns.length > 1;
    next = isMade
      ? { ...next, mapping: withMadeId(table, next.mapping, columns) }
      : withColumns(table, next, target, field, columns, zone ?? zoneOf(answered.mapping));
    const { prefix } = source;
    const prefixed = { ...next.mapping.fields?.[field], prefix };
    if (prefix !== undefined) next = { ...next, mapping: withSource(next.mapping, "fields", field, prefixed) };
  }
  return withDecision(next, target, "as mapped");
}

/** The answers for a file, with what was decided for an earlier one with the same columns. */
export function withRemembered(api: Pick<Api, "name">, table: SurveyedTable, answered: Answered): Answered {
  const file = rememberedFile(api, table);
  const targets = ITEM_TARGETS.filter((target) => file.decided[target] !== undefined);
  const next = targets.reduce((each, target) => withKept(table, each, target, file), answered);
  return { ...withChoices(table, next, file.choices), remembered: new Set(targets) };
}
