import { distance } from "../../nearest.ts";
import { DELIMITERS, type Delimiter } from "../csv/delimiter.ts";
import { comparable, isReportColumn } from "../csv/header-names.ts";
import { itemTarget } from "../csv/target.ts";
import { createTimeReader } from "./date-time.ts";
import type { Mapping, Source } from "./mapping.ts";

/** The header of a file and some of its rows. */
export interface Sample {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly delimiter: Delimiter;
  /** IANA zone that is meant by times without offset. */
  readonly timeZone: string;
}

/** The delimiter that stands most often in a header. */
export const delimiterIn = (header: string): Delimiter => {
  const unquoted = header.replaceAll(/"(?:""|[^"])*"/g, "");
  const counted = (Object.keys(DELIMITERS) as Delimiter[]).map((each) => [unquoted.split(each).length, each] as const);
  return counted.reduce((most, each) => (each[0] > most[0] ? each : most))[1];
};

/** What other systems call the fields, the most telling first. */
const HEADERS: readonly (readonly [target: string, names: readonly string[]])[] = [
  [
    "external_id",
    ["external id", "ticket id", "ticket number", "ticket nr", "case id", "case number", "issue key", "number", "id"],
  ],
  ["agent_email", ["agent email", "assignee email", "agent e mail", "e mail", "email", "customer email"]],
  ["agent_external_id", ["agent external id", "agent id", "assignee id", "user id"]],
  ["agent_name", ["agent name", "agent", "assignee", "assigned to", "owner", "handled by", "bearbeiter"]],
  ["status", ["status", "ticket status", "state", "incident state", "zustand"]],
  ["completed_at", ["completed at", "closed at", "resolved at", "closed", "resolved", "date closed", "erledigt am"]],
  ["type", ["type", "ticket type", "issue type", "category", "kind", "art"]],
  ["custom_attributes.short_description", ["short description", "subject", "summary", "title", "betreff"]],
  ["custom_attributes.description", ["description", "ticket description", "details", "beschreibung"]],
];

const STATUSES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    pending: ["open", "new", "to do", "todo", "backlog", "waiting", "offen", "neu"],
    completed: ["closed", "done", "resolved", "solved", "complete", "finished", "erledigt", "geschlossen"],
    cancelled: ["canceled", "rejected", "declined", "abgebrochen"],
  }).flatMap(([status, words]) => [status, ...words].map((word) => [word, status] as const)),
);
const IN_PROGRESS = "in_progress";

/** Texts that stand for nothing in exports. */
const NOTHING = ["?", "null", "n/a", "#n/a", "none", "-", "nan"];

/** Patterns that are tried, day before month where both fit. */
export const TIME_FORMATS: readonly string[] = [
  "iso",
  ...["dd-MM-yyyy", "dd.MM.yyyy", "dd/MM/yyyy", "MM/dd/yyyy", "MM-dd-yyyy", "yyyy/MM/dd"].flatMap((date) =>
    ["", " HH:mm", " HH:mm:ss", " h:mm a", " h:mm:ss a"].map((time) => `${date}${time}`),
  ),
  "unix_ms",
  "unix",
];
/** Digits of times since 1970 that are meant: numbers that are shorter may be anything. */
const DIGITS: Readonly<Record<string, number>> = { unix: 10, unix_ms: 13 };

/** How many of some texts a format reads. */
export const countRead = (values: readonly string[], format: string, timeZone: string | undefined): number => {
  const digits = DIGITS[format];
  const read = createTimeReader({ format, timeZone }, ".");
  return values.filter((value) => {
    if (digits !== undefined && value.trim().length !== digits) return false;
    try {
      read(value);
      return true;
    } catch {
      return false;
    }
  }).length;
};

/** Whether so many texts are what a column is meant to hold: some rows may be wrong. */
const isMost = (count: number, values: readonly string[]): boolean => count > 0 && count >= values.length / 2;

/** How times are written; undefined if no format fits most of them. */
export const formatOf = (
  values: readonly string[],
  timeZone: string,
): Pick<Source, "format" | "time_zone"> | undefined => {
  const counted = TIME_FORMATS.map((format) => [countRead(values, format, timeZone), format] as const);
  const [count, format] = counted.reduce((most, each) => (each[0] > most[0] ? each : most));
  if (!isMost(count, values)) return undefined;
  const needsZone = !(format in DIGITS) && !(format === "iso" && countRead(values, format, undefined) === count);
  return { ...(format !== "iso" && { format }), ...(needsZone && { time_zone: timeZone }) };
};

/** Aliases of the statuses in a file; none if they are ours. */
export const aliasesOf = (values: readonly string[]): Pick<Source, "values" | "otherwise"> => {
  const found = [...new Set(values.map((value) => value.trim()))];
  const unknown = found.filter((value) => !STATUSES.has(comparable(value)));
  const others = unknown.filter((value) => value !== IN_PROGRESS);
  const aliases = found.flatMap((value) => {
    const status = STATUSES.get(comparable(value));
    return status === undefined || status === value ? [] : [[value, status] as const];
  });
  return {
    ...(aliases.length > 0 && { values: Object.fromEntries(aliases) }),
    ...(others.length > 0 && { otherwise: IN_PROGRESS }),
  };
};

const words = (header: string): string =>
  comparable(header)
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Whether two names differ by a slip only: a letter in five. */
const isClose = (name: string, other: string): boolean =>
  Math.abs(name.length - other.length) < 3 && distance(name, other) <= Math.min(name.length, other.length) / 5;

/** Names of more columns are not searched for slips, which takes seconds. */
const COMPARED_COLUMNS_MAX = 1000;

/** Proposes a mapping for a file: what its columns are called, and what the cells hold. */
export const proposeMapping = ({ names, rows, delimiter, timeZone }: Sample): Mapping => {
  const nothing = NOTHING.filter((text) => rows.some((cells) => cells.some((cell) => comparable(cell) === text)));
  const valuesOf = (index: number): string[] =>
    rows.flatMap((cells) => {
      const cell = cells[index] ?? "";
      return cell.trim() === "" || nothing.includes(comparable(cell)) ? [] : [cell];
    });
  const counts = Map.groupBy(names, comparable);
  const isUnique = (name: string): boolean => counts.get(comparable(name))?.length === 1;
  const taken = new Set<number>();
  const fields: Record<string, Source> = {};

  const sourceOf = (target: string, index: number): Source | undefined => {
    const column = names[index]!.trim();
    const values = valuesOf(index);
    if (target === "status") return { column, ...aliasesOf(values) };
    if (target === "agent_email")
      return isMost(values.filter((value) => /^\S+@\S+$/.test(value)).length, values) ? { column } : undefined;
    if (target !== "completed_at") return { column };
    const format = formatOf(values, timeZone);
    return format && { column, ...format };
  };
  const take = (target: string, index: number): void => {
    const source = isUnique(names[index]!) && !taken.has(index) ? sourceOf(target, index) : undefined;
    if (source === undefined || fields[target] !== undefined) return;
    fields[target] = source;
    taken.add(index);
  };

  for (const [index, name] of names.entries()) {
    const own = itemTarget(comparable(name));
    if (own !== undefined) take(own.kind === "attribute" ? name.trim() : comparable(name), index);
  }
  const spoken = names.map(words);
  const takeKnown = (isSame: (name: string, header: string) => boolean): void => {
    for (const [target, known] of HEADERS) {
      for (const header of known) {
        const index = spoken.findIndex((name) => isSame(name, header));
        if (index !== -1) take(target, index);
      }
    }
  };
  takeKnown((name, header) => name === header);
  if (names.length <= COMPARED_COLUMNS_MAX) takeKnown(isClose);
  const named = names.filter((name) => name.trim() !== "" && !isReportColumn(name));
  fields["external_id"] ??= { column: (named.find(isUnique) ?? named[0] ?? "").trim() };

  const left = names.filter((name, index) => !taken.has(index) && !isReportColumn(name) && name.trim() !== "");
  const { external_id: id, ...others } = fields;
  return {
    fields: { external_id: id, ...others },
    others: left.every(isUnique) ? "custom_attributes" : "ignore",
    ...(nothing.length > 0 && { empty: nothing }),
    ...(delimiter !== "," && { delimiter }),
  };
};
