import { type Problem, problemIf } from "../../errors.ts";
import { problemsOf } from "../../schema.ts";
import {
  ATTRIBUTE_PREFIX,
  EVENT_FIELD_NAMES,
  eventTarget,
  fieldOf,
  isClearable,
  isTime,
  ITEM_FIELD_NAMES,
  itemTarget,
  type Target,
} from "../csv/target.ts";
import { comparable } from "../csv/header-names.ts";
import { createAliases, createConversion, schemaOf } from "./conversion.ts";
import { hasOffset, problemOfPattern } from "./date-pattern.ts";
import { type Mapping, PATTERN_MAX_CHARACTERS, type Source } from "./mapping.ts";
import { EVENT_FIELDS, WORK_ITEM_FIELDS } from "../../work-items/work-item-fields.ts";
import { nearestTo } from "../../nearest.ts";
import { isTimeZone } from "./time-zone.ts";

type Path = Problem["path"];

/** The columns that a source names. */
export function columnsOf({ column, columns = [] }: Source): readonly string[] {
  return column === undefined ? columns : [column];
}

/** A target of a mapping, its source and the path of the source. */
export interface TargetSource {
  readonly target: Target;
  readonly source: Source;
  readonly path: Path;
}

/** The targets of a mapping, without those whose names are unknown. */
export function targetsOf({ fields = {}, event = {} }: Mapping): TargetSource[] {
  return (
    [
      ["fields", fields, itemTarget],
      ["event", event, eventTarget],
    ] as const
  ).flatMap(([key, sources, targetOf]) =>
    Object.entries(sources).flatMap(([name, source]) => {
      const target = targetOf(name);
      return target ? [{ target, source, path: [key, name] }] : [];
    }),
  );
}

/** A source that is not a list of others, and its path. */
export interface SingleSource {
  readonly source: Source;
  readonly path: Path;
}

/** The columns that sources name, as `comparable` makes them. */
export function columnsOfAll(sources: readonly Source[]): ReadonlySet<string> {
  const singles = sources.flatMap((source) => singlesOf({ source, path: [] }));
  return new Set(singles.flatMap(({ source }) => columnsOf(source).map(comparable)));
}

/** The columns that a mapping's sources name, as `comparable` makes them. */
export function columnsIn(mapping: Mapping): ReadonlySet<string> {
  return columnsOfAll(targetsOf(mapping).map(({ source }) => source));
}

function innerOf({ source, path }: SingleSource): SingleSource[] | undefined {
  return source.first_of?.map((inner, index) => ({ source: inner, path: [...path, "first_of", index] }));
}

/** The sources of a target in order: those in `first_of`, or the source itself. */
export function singlesOf(single: SingleSource): SingleSource[] {
  return innerOf(single)?.flatMap(singlesOf) ?? [single];
}

const ORIGINS: readonly (keyof Source)[] = ["column", "columns", "value", "first_of"];
const OF_COLUMNS: readonly (keyof Source)[] = ["join", "digest"];
/** The options of a source with a digest. */
const BESIDE_DIGEST: readonly (keyof Source)[] = ["digest", "prefix", "blank"];
/** What a source with `first_of` says for all of them. */
const OF_ALL: readonly (keyof Source)[] = ["blank"];
function isOrigin(key: keyof Source): boolean {
  return ORIGINS.includes(key);
}

/** The problems with the keys of a source and of the sources in it. */
function problemsOfKeys(single: SingleSource, isInner = false): Problem[] {
  const { source, path } = single;
  const given = (Object.keys(source) as (keyof Source)[]).filter((key) => source[key] !== undefined);
  const [origins, options] = [given.filter(isOrigin), given.filter((key) => !isOrigin(key))];
  const inner = innerOf(single);
  const problemAt = (key: keyof Source, message: string): Problem => ({
    path: [...path, key],
    code: "invalid",
    message,
  });
  const withoutColumns = options.filter((key) => source.columns === undefined && OF_COLUMNS.includes(key));
  const withDigest = options.filter((key) => source.digest === true && !BESIDE_DIGEST.includes(key));
  return [
    ...problemIf(origins.length !== 1, path, "invalid", `must have exactly one of ${ORIGINS.join(", ")}`),
    ...withoutColumns.map((key) => problemAt(key, "can only be used with columns")),
    ...withDigest.map((key) => problemAt(key, "can't be used with digest")),
    ...options.flatMap((key) => {
      if (inner && !OF_ALL.includes(key)) return [problemAt(key, "must be in the sources of first_of")];
      return isInner && OF_ALL.includes(key) ? [problemAt(key, "must be beside first_of")] : [];
    }),
    ...(inner ?? []).flatMap((part) => problemsOfKeys(part, true)),
  ];
}

/** The problems of a date-time's format and time zone. */
function problemsOfTime({ source: { format = "iso", time_zone: zone }, path }: SingleSource): Problem[] {
  const isPattern = !["iso", "unix", "unix_ms"].includes(format);
  if (isPattern && format.length > PATTERN_MAX_CHARACTERS) {
    const message = `must be at most ${PATTERN_MAX_CHARACTERS} characters`;
    return [{ path: [...path, "format"], code: "too_big", message }];
  }
  const problem = isPattern ? problemOfPattern(format) : undefined;
  const needsZone = isPattern && problem === undefined && !hasOffset(format) && zone === undefined;
  const isUnknown = zone !== undefined && !isTimeZone(zone);
  const expected = "must be an IANA time zone, such as Europe/Berlin";
  return [
    ...problemIf(problem !== undefined, [...path, "format"], "invalid_format", problem ?? ""),
    ...problemIf(needsZone, [...path, "time_zone"], "required", "is required for a format without a UTC offset"),
    ...problemIf(isUnknown, [...path, "time_zone"], "invalid_value", expected),
  ];
}

/** Whether a target keeps a source's text as it is. */
function isText(target: Target, { as = "text" }: Source): boolean {
  if (target.kind === "attribute") return as === "text";
  return (fieldOf(target)?.kind.name ?? "text") === "text";
}

/** The names of all date-times, for messages. */
const TIMES = Object.entries({ ...WORK_ITEM_FIELDS, ...EVENT_FIELDS })
  .flatMap(([name, { kind }]) => (kind.name === "time" ? [name] : []))
  .join(" and ");

/** The problems of options that a target does not have. */
function problemsOfOptions(target: Target, { source, path }: SingleSource): Problem[] {
  const stray = (
    isFor: boolean,
    option: "format" | "time_zone" | "as" | "prefix" | "digest" | "trim",
    targets: string,
  ): Problem[] =>
    problemIf(!isFor && source[option] !== undefined, [...path, option], "invalid", `is for ${targets} only`);
  return [
    ...stray(isTime(target), "format", TIMES),
    ...stray(isTime(target), "time_zone", TIMES),
    ...stray(target.kind === "attribute", "as", `${ATTRIBUTE_PREFIX}<name>`),
    ...stray(isText(target, source), "prefix", "texts"),
    ...stray(isText(target, source), "digest", "texts"),
    ...stray(isText(target, source), "trim", "texts"),
  ];
}

/** The texts in a source itself. Their values can be checked before any row is read. */
function textsIn({ source, path }: SingleSource): [Path, string][] {
  const { value, values = {}, otherwise } = source;
  const texts: [Path, string][] = Object.entries(values).map(([text, alias]) => [[...path, "values", text], alias]);
  if (otherwise !== undefined) return [...texts, [[...path, "otherwise"], otherwise]];
  const stays = value !== undefined && createAliases(source).find(comparable(value)) === undefined;
  return stays ? [[[...path, "value"], value], ...texts] : texts;
}

/** The problems of the texts in a source. */
function problemsOfTexts(target: Target, single: SingleSource, mapping: Mapping): Problem[] {
  const convert = createConversion(target, single.source, mapping);
  const schema = schemaOf(target);
  return textsIn(single).flatMap(([path, text]) => {
    if (text === "") return [];
    try {
      const value = convert((single.source.prefix ?? "") + text);
      const parsed = schema?.safeParse(value);
      return parsed?.error ? problemsOf(parsed.error).map(({ code, message }) => ({ path, code, message })) : [];
    } catch (error) {
      return [{ path, code: "invalid_value", message: error instanceof Error ? error.message : "cannot be read" }];
    }
  });
}

function problemsOfRepetition({ source: { columns = [], values = {} }, path }: SingleSource): Problem[] {
  const repeated = (texts: readonly string[]): number => {
    const found = new Set<string>();
    return texts.map(comparable).findIndex((text) => found.size === found.add(text).size);
  };
  const names = Object.keys(values);
  const [column, alias] = [repeated(columns), names[repeated(names)]];
  const twice = "occurs twice; case and outer spaces are ignored";
  return [
    ...problemIf(column !== -1, [...path, "columns", column], "repeated", "occurs twice"),
    ...problemIf(alias !== undefined, [...path, "values", alias ?? ""], "repeated", twice),
  ];
}

function problemsOfSource({ target, ...given }: TargetSource, mapping: Mapping): Problem[] {
  const keys = problemsOfKeys(given);
  const isKept = given.source.blank === "clear" && !isClearable(target);
  const blank = problemIf(isKept, [...given.path, "blank"], "invalid", `can't clear ${target.name}`);
  const singles = singlesOf(given).flatMap((single) => {
    const options = [...problemsOfOptions(target, single), ...(isTime(target) ? problemsOfTime(single) : [])];
    const texts = options.length === 0 ? problemsOfTexts(target, single, mapping) : [];
    return [...options, ...problemsOfRepetition(single), ...texts];
  });
  return [...keys, ...blank, ...singles];
}

function problemsOfNames(
  key: "fields" | "event",
  sources: Readonly<Record<string, Source>>,
  names: readonly string[],
  targetOf: (name: string) => Target | undefined,
): Problem[] {
  const unknown = Object.keys(sources).filter((name) => targetOf(name) === undefined);
  return [
    ...problemIf(!Object.hasOwn(sources, "external_id"), [key, "external_id"], "required", "is required"),
    ...unknown.map((name): Problem => ({
      path: [key, name],
      code: "unknown",
      message: `is not known; did you mean ${nearestTo(name, names) ?? ""}?`,
    })),
  ];
}

/**
 * What is wrong with a mapping besides its shape, without its file. Paths begin in the mapping.
 * @param mapping one with its own sources, not `from` another job
 */
export function problemsOfMapping(mapping: Mapping): Problem[] {
  const { fields, event } = mapping;
  if (fields === undefined) return [{ path: ["fields"], code: "required", message: "is required" }];
  return [
    ...problemsOfNames("fields", fields, [...ITEM_FIELD_NAMES, `${ATTRIBUTE_PREFIX}<name>`], itemTarget),
    ...(event ? problemsOfNames("event", event, EVENT_FIELD_NAMES, eventTarget) : []),
    ...targetsOf(mapping).flatMap((target) => problemsOfSource(target, mapping)),
  ];
}
