import type { Problem, ProblemCode } from "../../problem.ts";
import { problemsOf } from "../../schema-problems.ts";
import {
  ATTRIBUTE_PREFIX,
  EVENT_FIELD_NAMES,
  eventTarget,
  isTime,
  ITEM_FIELD_NAMES,
  itemTarget,
  type Target,
} from "../csv/target.ts";
import { comparable } from "../csv/header-names.ts";
import { createConversion, schemaOf } from "./conversion.ts";
import { hasOffset, problemOfPattern } from "./date-pattern.ts";
import type { Mapping, Source } from "./mapping.ts";
import { nearestTo } from "../../nearest.ts";
import { isTimeZone } from "./time-zone.ts";

type Path = Problem["path"];
const problemAt = (path: Path, code: ProblemCode, message: string): Problem => ({ path, code, message });

/** A target of a mapping, its source and the path of the source. */
export interface TargetSource {
  readonly target: Target;
  readonly source: Source;
  readonly path: Path;
}

/** The targets of a mapping, without those whose names are unknown. */
export const targetsOf = ({ fields = {}, event = {} }: Mapping): TargetSource[] =>
  (
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

/** A source that is not a list of others, and its path. */
export interface SingleSource {
  readonly source: Source;
  readonly path: Path;
}

/** The sources of a target in their order: those in `first_of`, or the source itself. */
export const singlesOf = ({ source, path }: SingleSource): SingleSource[] =>
  source.first_of?.flatMap((each, index) => singlesOf({ source: each, path: [...path, "first_of", index] })) ?? [
    { source, path },
  ];

const ORIGINS = ["column", "columns", "value", "first_of"] as const;

/** The problems of which keys a source has, its own and those of the sources in it. */
const problemsOfKeys = ({ source, path }: SingleSource): Problem[] => {
  const origins = ORIGINS.filter((key) => source[key] !== undefined);
  const inner = source.first_of?.flatMap((each, index) =>
    problemsOfKeys({ source: each, path: [...path, "first_of", index] }),
  );
  const outer = (Object.keys(source) as (keyof Source)[]).filter(
    (key) => source[key] !== undefined && !ORIGINS.includes(key as never),
  );
  return [
    ...(origins.length === 1 ? [] : [problemAt(path, "invalid", `must have exactly one of ${ORIGINS.join(", ")}`)]),
    ...(source.join !== undefined && source.columns === undefined
      ? [problemAt([...path, "join"], "invalid", "belongs to columns")]
      : []),
    ...(inner ? outer.map((key) => problemAt([...path, key], "invalid", "belongs into the sources of first_of")) : []),
    ...(inner ?? []),
  ];
};

/** The problems of a date-time's format and time zone. */
const problemsOfTime = ({ source: { format = "iso", time_zone: zone }, path }: SingleSource): Problem[] => {
  const isPattern = !["iso", "unix", "unix_ms"].includes(format);
  const problem = isPattern ? problemOfPattern(format) : undefined;
  const needsZone = isPattern && problem === undefined && !hasOffset(format) && zone === undefined;
  return [
    ...(problem === undefined ? [] : [problemAt([...path, "format"], "invalid_format", problem)]),
    ...(needsZone ? [problemAt([...path, "time_zone"], "required", "is required for a format without offset")] : []),
    ...(zone !== undefined && !isTimeZone(zone)
      ? [
          problemAt(
            [...path, "time_zone"],
            "invalid_value",
            "must be a time zone of the IANA database, such as Europe/Berlin",
          ),
        ]
      : []),
  ];
};

/** The problems of options that a target does not have. */
const problemsOfOptions = (target: Target, { source, path }: SingleSource): Problem[] => {
  const times = isTime(target) ? [] : (["format", "time_zone"] as const).filter((key) => source[key] !== undefined);
  return [
    ...times.map((key) => problemAt([...path, key], "invalid", "is for completed_at and occurred_at only")),
    ...(source.as !== undefined && target.kind !== "attribute"
      ? [problemAt([...path, "as"], "invalid", `is for ${ATTRIBUTE_PREFIX}<name> only`)]
      : []),
  ];
};

/** The texts that stand in a source itself: what becomes of them can be checked before any row is read. */
const textsIn = ({ source: { value, values = {}, otherwise }, path }: SingleSource): [Path, string][] => [
  ...(value === undefined || values[value] !== undefined || otherwise !== undefined
    ? []
    : [[[...path, "value"], value] as [Path, string]]),
  ...Object.entries(values).map(([text, alias]): [Path, string] => [[...path, "values", text], alias]),
  ...(otherwise === undefined ? [] : [[[...path, "otherwise"], otherwise] as [Path, string]]),
];

/** The problems of the texts in a source. */
const problemsOfTexts = (target: Target, single: SingleSource, mapping: Mapping): Problem[] => {
  const convert = createConversion(target, single.source, mapping);
  return textsIn(single).flatMap(([path, text]) => {
    if (text === "") return [];
    try {
      const value = convert(text);
      const parsed = schemaOf(target)?.safeParse(value);
      return parsed?.error ? problemsOf(parsed.error).map(({ code, message }) => problemAt(path, code, message)) : [];
    } catch (error) {
      return [problemAt(path, "invalid_value", error instanceof Error ? error.message : "cannot be read")];
    }
  });
};

const problemsOfRepetition = ({ source: { columns = [], values = {} }, path }: SingleSource): Problem[] => {
  const repeated = (texts: readonly string[]): number =>
    texts.map(comparable).findIndex((text, index, all) => all.indexOf(text) !== index);
  const column = repeated(columns);
  const alias = repeated(Object.keys(values));
  return [
    ...(column === -1 ? [] : [problemAt([...path, "columns", column], "repeated", "stands twice")]),
    ...(alias === -1
      ? []
      : [
          problemAt(
            [...path, "values", Object.keys(values)[alias]!],
            "repeated",
            "stands twice: case and outer spaces do not count",
          ),
        ]),
  ];
};

const problemsOfSource = ({ target, ...place }: TargetSource, mapping: Mapping): Problem[] => {
  const keys = problemsOfKeys(place);
  const singles = singlesOf(place).flatMap((single) => {
    const options = [...problemsOfOptions(target, single), ...(isTime(target) ? problemsOfTime(single) : [])];
    const texts = options.length === 0 ? problemsOfTexts(target, single, mapping) : [];
    return [...options, ...problemsOfRepetition(single), ...texts];
  });
  return [...keys, ...singles];
};

const problemsOfNames = (
  key: "fields" | "event",
  sources: Readonly<Record<string, Source>>,
  known: readonly string[],
  targetOf: (name: string) => Target | undefined,
): Problem[] => {
  const unknown = Object.keys(sources).filter((name) => targetOf(name) === undefined);
  return [
    ...(Object.hasOwn(sources, "external_id") ? [] : [problemAt([key, "external_id"], "required", "is required")]),
    ...unknown.map((name) =>
      problemAt([key, name], "unknown", `is not known; did you mean ${nearestTo(name, known) ?? ""}?`),
    ),
  ];
};

/**
 * What is wrong with a mapping beyond its shape, whatever the file is. Paths begin in the mapping.
 * @param mapping one with its own sources, not `from` another job
 */
export const problemsOfMapping = (mapping: Mapping): Problem[] => {
  const { fields, event } = mapping;
  if (fields === undefined) return [problemAt(["fields"], "required", "is required")];
  return [
    ...problemsOfNames("fields", fields, [...ITEM_FIELD_NAMES, `${ATTRIBUTE_PREFIX}<name>`], itemTarget),
    ...(event ? problemsOfNames("event", event, EVENT_FIELD_NAMES, eventTarget) : []),
    ...targetsOf(mapping).flatMap((target) => problemsOfSource(target, mapping)),
  ];
};
