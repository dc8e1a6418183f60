import type { Delimiter } from "../csv/delimiter.ts";
import { comparable, isReportColumn, numberedNames } from "../csv/header-names.ts";
import { ATTRIBUTE_PREFIX, itemTarget } from "../csv/target.ts";
import {
  type AgentName,
  agentOfBareName,
  agentOfName,
  isCustomer,
  targetOfName,
  targetOfSlip,
} from "./known-headers.ts";
import { aliasesOf, statusOf } from "./known-statuses.ts";
import type { Mapping, Source } from "./mapping.ts";
import { plainWords } from "./plain-words.ts";
import { dayOrMonthOf, formatsOf, timeOptionsOf } from "./time-formats.ts";

/** The header of a file and some of its rows. */
export interface Sample {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly delimiter: Delimiter;
  /** Number of the header's row. @default 1 */
  readonly headerRow?: number;
  /** IANA zone that is meant by times without offset. */
  readonly timeZone: string;
}

/** How sure a proposal is: what is only likely needs a look before it is imported. */
export type Certainty = "certain" | "likely" | "unknown";

/** What a column of a file is proposed to become. */
export interface ProposedColumn {
  /** Its place in the file. */
  readonly index: number;
  /** Its name in mappings. */
  readonly column: string;
  /** The field, or `custom_attributes.<name>`; undefined if nothing is known of it: `others` says what happens then. */
  readonly target: string | undefined;
  readonly certainty: Certainty;
  /** Why, such as "by name"; empty if nothing is known. */
  readonly reason: string;
}

/** A mapping for a file, and why. */
export interface Proposal {
  readonly mapping: Mapping;
  /** All columns of the file in their order. */
  readonly columns: readonly ProposedColumn[];
  /** Why the header may be a row of data; undefined if nothing speaks for that. */
  readonly headerDoubt?: string | undefined;
  /** Texts of the status column whose meaning a person has to choose, as far as the rows show them. */
  readonly unknownStatuses?: readonly string[];
}

/** The reason of a date that a person has to answer a question about. */
export const UNCLEAR_DAY = "by name; day or month first isn't clear";

/** Texts that mean an empty value in exports. */
const NOTHING = ["?", "null", "n/a", "#n/a", "none", "-", "nan"];
/** Names of more columns are not searched for slips, which takes seconds. */
const COMPARED_COLUMNS_MAX = 1000;

/** A column that is looked at. */
interface Column {
  readonly index: number;
  readonly name: string;
  /** The name as known words are compared with it. */
  readonly words: string;
  /** Its cells without the empty ones. */
  readonly values: readonly string[];
}

/** A column that was found for a target. */
interface Found {
  readonly source: Source;
  readonly certainty: Certainty;
  readonly reason: string;
}

/** Whether so many texts are what a column is meant to hold: some rows may be wrong. */
function isMost(count: number, values: readonly string[]): boolean {
  return count > 0 && count >= values.length / 2;
}

function isEmail(value: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(value.trim());
}

/** Whether a column could identify items: no two cells are the same. */
function isDistinct({ values }: Column): boolean {
  return values.length > 0 && new Set(values.map((value) => value.trim())).size === values.length;
}

/** What the cells say about a column that is named after a target; undefined if they are something else. */
function checkValues(target: string, column: Column, { timeZone, rows }: Sample, isCertain: boolean) {
  const { name, values } = column;
  const found = (source: Source, certainty: Certainty, reason: string): Found => ({ source, certainty, reason });
  const named = (source: Source): Found => found(source, isCertain ? "certain" : "likely", "by name");
  if (target === "external_id") {
    if (rows.length > 0 && values.length === rows.length && isDistinct(column)) {
      return found({ column: name }, "certain", isCertain ? "by name" : "by name and values");
    }
    const isRepeated = values.length > 0 && !isDistinct(column);
    return isRepeated ? found({ column: name }, "likely", "by name, but values repeat") : named({ column: name });
  }
  if (target === "agent_email") {
    if (values.length > 0 && !isMost(values.filter(isEmail).length, values)) return undefined;
    return named({ column: name });
  }
  if (target === "status") {
    const known = values.filter((value) => statusOf(value) !== undefined).length;
    const source = { column: name, ...aliasesOf(values) };
    if (isCertain) return named(source);
    return isMost(known, values) ? found(source, "certain", "by name and values") : undefined;
  }
  if (target === "completed_at") {
    if (values.length === 0)
      return found({ column: name, time_zone: timeZone }, "likely", "by name; it has no values yet");
    const fitting = formatsOf(values, timeZone);
    const [format] = fitting;
    if (format === undefined) return undefined;
    const source = { column: name, ...timeOptionsOf(values, format, timeZone) };
    if (dayOrMonthOf(fitting)) return found(source, "likely", UNCLEAR_DAY);
    return found(source, isCertain ? "certain" : "likely", "by name and values");
  }
  return named({ column: name });
}

/** The columns of the person who did the work: those of one role only. */
function agentColumns(columns: readonly Column[]): { readonly target: string; readonly column: Column }[] {
  const named = columns.flatMap((column) => {
    const agent = agentOfName(column.words);
    return agent ? [{ column, agent }] : [];
  });
  const best = named.reduce<AgentName | undefined>(
    (most, { agent }) => (most === undefined || agent.rank < most.rank ? agent : most),
    undefined,
  );
  return named.flatMap(({ column, agent }) =>
    agent.role === best?.role ? [{ column, target: agent.target ?? targetOfPerson(column) }] : [],
  );
}

/** What a column holds that names a person and no detail. */
function targetOfPerson({ values }: Column): string {
  if (isMost(values.filter(isEmail).length, values)) return "agent_email";
  const ids = values.filter((value) => /^(?:\d+|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i.test(value.trim()));
  return isMost(ids.length, values) ? "agent_external_id" : "agent_name";
}

/** Whether all cells are known words for statuses, of at least two different ones. */
function holdsStatuses({ values }: Column): boolean {
  const statuses = new Set(values.map(statusOf));
  return !statuses.has(undefined) && statuses.size > 1;
}

/** Collects what the columns become, each column and each target once. */
class Choices {
  readonly fields = new Map<string, Found>();
  readonly targets = new Map<number, string>();
  readonly #sample: Sample;

  constructor(sample: Sample) {
    this.#sample = sample;
  }

  /** Takes a column for a target, unless one of them is taken or the cells are something else. */
  take(target: string, column: Column, isCertain: boolean, reason?: string): void {
    if (this.fields.has(target) || this.targets.has(column.index)) return;
    const found = checkValues(target, column, this.#sample, isCertain);
    if (found === undefined) return;
    this.fields.set(target, reason === undefined ? found : { ...found, certainty: "likely", reason });
    this.targets.set(column.index, target);
  }

  hasAgent(): boolean {
    return [...this.fields.keys()].some((target) => target.startsWith("agent_"));
  }
}

function choose(columns: readonly Column[], sample: Sample): Choices {
  const choices = new Choices(sample);
  for (const column of columns) {
    const key = comparable(column.name);
    const own = itemTarget(key);
    if (own) choices.take(own.kind === "attribute" ? column.name : key, column, true);
  }
  const known = columns.flatMap((column) => {
    const named = targetOfName(column.words);
    return named ? [{ column, ...named }] : [];
  });
  for (const { target, column, isCertain } of known.toSorted((a, b) => a.rank - b.rank)) {
    choices.take(target, column, isCertain);
  }
  if (!choices.hasAgent()) for (const { target, column } of agentColumns(columns)) choices.take(target, column, true);
  if (columns.length <= COMPARED_COLUMNS_MAX) {
    for (const column of columns) {
      const target = targetOfSlip(column.words);
      if (target?.startsWith("agent_") && choices.hasAgent()) continue;
      if (target !== undefined) choices.take(target, column, false, "by a similar name");
    }
  }
  if (!choices.hasAgent() && !columns.some(({ words }) => isCustomer(words))) {
    for (const column of columns) {
      const target = agentOfBareName(column.words);
      if (target !== undefined) choices.take(target, column, false);
    }
  }
  for (const column of columns) if (holdsStatuses(column)) choices.take("status", column, true, "by values");
  const ids = columns.filter((column) => column.values.length === sample.rows.length && isDistinct(column));
  for (const column of ids) choices.take("external_id", column, false, "by values: no two are the same");
  return choices;
}

/** Why the header may be a row of data: names of columns are also among their values. */
function headerDoubtOf(columns: readonly Column[]): string | undefined {
  const found = columns.find(({ name, values }) => values.some((value) => value.trim() === name.trim()));
  return (
    found && `the header may be a row of data: "${found.name}" is also a value of its column. If so, add a header row`
  );
}

/** The texts of a status column that mean no known status. */
function unknownStatusesOf(column: Column | undefined): string[] {
  const texts = new Set(column?.values.map((value) => value.trim()));
  return [...texts].filter((text) => statusOf(text) === undefined);
}

/** The most columns that a proposal names one by one: far fewer than a mapping may have sources. */
const NAMED_COLUMNS_MAX = 500;

/**
 * The columns that no field takes. They are kept by `others`, but not if values stand in a column without a header: it
 * can't be kept under a name, so that each row would fail. Then all others are named, and that one is left out.
 */
function keptColumns(
  columns: readonly Column[],
  taken: ReadonlyMap<number, string>,
  hasNameless: boolean,
): Pick<Mapping, "fields" | "others"> {
  if (!hasNameless || columns.length > NAMED_COLUMNS_MAX) return { fields: {}, others: "custom_attributes" };
  const kept = columns.filter(({ index, name }) => !taken.has(index) && itemTarget(ATTRIBUTE_PREFIX + name));
  return {
    fields: Object.fromEntries(kept.map(({ name }) => [ATTRIBUTE_PREFIX + name, { column: name }])),
    others: "ignore",
  };
}

/** Proposes a mapping for a file, by what its columns are called and what the cells hold. */
export function proposeMapping(sample: Sample): Proposal {
  const { names, rows, delimiter, headerRow = 1 } = sample;
  const filled = rows.filter((cells) => cells.some((cell) => cell.trim() !== ""));
  const nothing = NOTHING.filter((text) => rows.some((cells) => cells.some((cell) => comparable(cell) === text)));
  const empty = new Set(["", ...nothing]);
  const all = numberedNames(names).map((name, index) => ({ name, index }));
  const columns = all
    .filter(({ name }) => name !== "" && !isReportColumn(name))
    .map(({ name, index }): Column => ({
      index,
      name,
      words: plainWords(name),
      values: filled.map((cells) => cells[index] ?? "").filter((cell) => !empty.has(comparable(cell))),
    }));
  const { fields, targets } = choose(columns, { ...sample, rows: filled });
  const { external_id: id, ...others } = Object.fromEntries(
    [...fields].map(([target, { source }]) => [target, source]),
  );
  const hasNameless = all.some(({ name, index }) => name === "" && filled.some((cells) => (cells[index] ?? "") !== ""));
  const kept = keptColumns(columns, targets, hasNameless);
  return {
    mapping: {
      fields: { ...(id && { external_id: id }), ...others, ...kept.fields },
      others: kept.others,
      ...(nothing.length > 0 && { empty: nothing }),
      ...(headerRow !== 1 && { header_row: headerRow }),
      ...(delimiter !== "," && { delimiter }),
    },
    columns: all.map(({ name, index }): ProposedColumn => {
      const target = targets.get(index);
      const found = target === undefined ? undefined : fields.get(target);
      return { index, column: name, target, certainty: found?.certainty ?? "unknown", reason: found?.reason ?? "" };
    }),
    headerDoubt: headerDoubtOf(columns),
    unknownStatuses: unknownStatusesOf(columns.find(({ index }) => targets.get(index) === "status")),
  };
}
