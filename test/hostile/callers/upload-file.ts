import type { EventInput, ItemInput, Json } from "../oracle/reference-item.ts";
import { EMPTY, FAILS, MAPPED, MAPPED_EVENT, PLAIN, type Way } from "./cells.ts";

/**
 * Kinds of rows whose item has no other row. `new`: a row creates it; `other`: it exists with other values; `gone`: so it did,
 * and was deleted before the upload, so that the row restores it; `kept`: it exists as in the row, so that only the row's event
 * is new; `known`: others know it too.
 */
const SINGLE_KINDS = ["new", "other", "other", "gone", "kept", "known"] as const;
const SINGLES_OF_A_KIND = 6;

/** A row of a file, and whether it is valid. */
export interface UploadRow {
  readonly input: ItemInput;
  /** As in a spreadsheet. */
  readonly number: number;
  readonly cells: readonly string[];
  readonly isValid: boolean;
}

/** A CSV file, and how it is to be read. */
export interface UploadFile {
  readonly text: string;
  readonly mapping: object | undefined;
  readonly delimiter: string;
  readonly rows: readonly UploadRow[];
  /** Rows whose items have no other row; a client may change them. */
  readonly singles: readonly (UploadRow & { readonly kind: (typeof SINGLE_KINDS)[number] })[];
}

/** Kinds of files: without a mapping, with one, and with one that makes events of rows. */
export const FILE_KINDS = ["plain", "mapped", "with events"] as const;
type FileKind = (typeof FILE_KINDS)[number];

/** What a file has of a field: its source in a mapping, its columns, and ways to fill them. */
interface FileField {
  readonly target: string;
  readonly source?: object;
  readonly headers: readonly string[];
  /** Whether an empty value clears it. @default it stays */
  readonly clears?: boolean;
  /** @param name of the row's item */
  readonly ways: (name: string, number: number) => readonly Way[];
}

/** Ways to write an ID, by the name of the item. */
const ID_SOURCES: readonly (readonly [source: object, cells: (name: string) => string])[] = [
  [{ column: "$1" }, (name) => name],
  [{ first_of: [{ column: "$1" }, { column: "$2" }] }, (name) => `?¦${name}`],
  [{ columns: ["$1", "$2"], join: "-" }, (name) => (name.includes("-") ? name.replace("-", "¦") : `${name}¦`)],
];

/** Chances of a field to be in a file, and of its cells to be empty, where they may. */
const FIELD_SHARE = 0.8;
const EMPTY_SHARE = 0.4;

/** What a mapping says of empty values. */
type Blank = "keep" | "clear" | undefined;
/** How a file is to be read, apart from its fields. */
interface FileOptions {
  readonly delimiter: string;
  readonly decimal: string;
  readonly header_row: number;
  readonly others?: string;
  readonly empty?: readonly string[];
  readonly blank?: Blank;
}
/** The header of two columns that no source names. */
export const OTHER_COLUMN = "Extra";
const NEVER_CLEARED = ["external_id", "event.external_id", "type", "status", "custom_attributes"];
/** How often a source says it for itself. */
const OWN_BLANK_SHARE = 0.2;

const mappedField = (target: string, source: object, ways: FileField["ways"], clears = false): FileField => {
  const text = JSON.stringify(source);
  const named = (part: string): string => part.replaceAll("$", `${target} `);
  const columns = [...new Set(text.match(/\$\d/g))].toSorted();
  return { target, source: JSON.parse(named(text)) as object, headers: columns.map(named), ways, clears };
};

/** The fields that a file has, in the order of its columns. The last one is not the ID, which a row may lack. */
const fieldsOf = (kind: FileKind, { others, blank }: FileOptions, random: () => number): readonly FileField[] => {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const isThere = ([target]: readonly [string, unknown]): boolean => target === "external_id" || random() < FIELD_SHARE;
  const ofTable = (table: typeof MAPPED, prefix = ""): FileField[] =>
    Object.entries(table)
      .filter(isThere)
      .map(([target, sources]) => {
        const { source, ways } = pick(sources);
        const canClear = !NEVER_CLEARED.includes(prefix + target);
        const own: Blank = canClear && random() < OWN_BLANK_SHARE ? pick(["keep", "clear"]) : undefined;
        const clears = canClear && (own ?? blank) === "clear";
        return mappedField(prefix + target, { ...source, ...(own && { blank: own }) }, () => ways, clears);
      });
  const extra = (header: string, name: string, isKept: boolean): FileField => ({
    target: `custom_attributes.${name}`,
    headers: [header],
    clears: isKept && blank === "clear",
    ways: () => [
      ["", undefined],
      ["more", isKept ? "more" : undefined],
    ],
  });
  const plainField = (target: string, ways: FileField["ways"]): FileField => ({ target, headers: [target], ways });
  const [id, cellsOfId] = pick(ID_SOURCES);
  const fields =
    kind === "plain"
      ? [
          plainField("external_id", (name) => [
            [name, name],
            ["", FAILS],
          ]),
          ...Object.entries(PLAIN)
            .filter(isThere)
            .map(([target, ways]) => plainField(target, () => ways)),
        ]
      : [
          mappedField("external_id", id, (name) => [
            [cellsOfId(name), name],
            [cellsOfId(""), FAILS],
          ]),
          ...ofTable(MAPPED),
          ...(kind === "with events" ? ofTable(MAPPED_EVENT, "event.") : []),
        ];
  const shuffled = fields.map((field) => ({ field, at: random() })).toSorted((a, b) => a.at - b.at);
  return [
    ...shuffled.map(({ field }) => field),
    ...(others === undefined || others === "refuse"
      ? []
      : [
          extra(OTHER_COLUMN, OTHER_COLUMN, others !== "ignore"),
          extra(OTHER_COLUMN, `${OTHER_COLUMN} (2)`, others !== "ignore"),
        ]),
    // Another value in each row.
    kind === "plain"
      ? plainField("custom_attributes.n", (_, number) => [[String(number), String(number)]])
      : mappedField("custom_attributes.n", { column: "$1", as: "number" }, (_, number) => [[String(number), number]]),
  ];
};

/** What the cells of a row mean together. @param cleared the fields whose values are empty and clear them */
const inputOf = (name: string, meanings: ReadonlyMap<string, Json>, cleared: readonly string[]): ItemInput => {
  const part = (prefix: string): Record<string, Json> =>
    Object.fromEntries(
      [...meanings].flatMap(([target, value]) =>
        target.startsWith(prefix) ? [[target.slice(prefix.length), value]] : [],
      ),
    );
  const [attributes, event] = [part("custom_attributes."), part("event.")];
  const removed = cleared.flatMap((target) => /^custom_attributes\.(.+)$/.exec(target)?.[1] ?? []);
  const { custom_attributes: json, ...fields } = Object.fromEntries(
    [...meanings].filter(([target]) => !target.includes(".")),
  );
  return {
    ...fields,
    external_id: name,
    custom_attributes: { ...(json as object | undefined), ...attributes },
    ...(removed.length > 0 && { remove_attributes: removed }),
    ...("external_id" in event && { events: [event as unknown as EventInput] }),
  };
};

/** Some files are larger than a window or a group of items by default. */
const rowsOf = (random: () => number): number =>
  random() < 0.2 ? 300 + Math.floor(random() * 1200) : 60 + Math.floor(random() * 220);

/** Places in a file for the rows of items that have no other row: anywhere. */
const placeSingles = (random: () => number, rows: number) => {
  const places = new Map<number, (typeof SINGLE_KINDS)[number]>();
  for (const kind of SINGLE_KINDS) {
    for (let count = 0; count < SINGLES_OF_A_KIND; count++) places.set(Math.floor(random() * rows), kind);
  }
  return places;
};

/**
 * Makes a file. Half of the files have no invalid row, and all their other items are new.
 * @param isRepeating whether some external_ids may occur in many rows
 * @param isSmall whether it has few rows, because each takes long
 * @param prefix of the names of its own items
 * @param known names of items that others know too
 */
export const makeUploadFile = (
  random: () => number,
  kind: FileKind,
  isRepeating: boolean,
  { isSmall, prefix, known }: { readonly isSmall: boolean; readonly prefix: string; readonly known: readonly string[] },
): UploadFile => {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const isMapped = kind !== "plain";
  const count = isSmall ? 160 : rowsOf(random);
  const places = placeSingles(random, count);
  const isAllNew = random() < 0.5;
  const left = [...known];
  const options: FileOptions = isMapped
    ? {
        delimiter: pick([",", ";", "\t", "|"]),
        decimal: pick([".", ","]),
        header_row: pick([1, 1, 3]),
        others: pick(["refuse", "custom_attributes", "ignore"]),
        empty: EMPTY,
        ...(random() < 0.4 && { blank: "clear" as const }),
      }
    : { delimiter: ",", decimal: ".", header_row: 1 };
  const { delimiter, decimal, header_row: headerRow } = options;
  const fields = fieldsOf(kind, options, random);

  /** Numbers have the file's decimal mark. */
  const cellsOf = ({ headers }: FileField, [text]: Way, number: number): string[] =>
    headers.length === 0
      ? []
      : text
          .replace("§", () => String(number))
          .split("¦")
          .map((cell) => cell.replace(/^(\d+)\.(\d+)$/, `$1${decimal}$2`));
  const rowOf = (name: string, number: number, isValid: boolean): UploadRow => {
    const all = fields.map((field) => ({ field, ways: field.ways(name, number) }));
    const isShort = !isValid && random() < 0.2;
    const canFail = all.filter(({ ways }) => ways.some(([, meaning]) => meaning === FAILS));
    const failing = isValid || isShort ? undefined : pick(canFail).field;
    const meanings = new Map<string, Json>();
    const cleared: string[] = [];
    const cells = all.flatMap(({ field, ways }) => {
      const possible = ways.filter(([, meaning]) => (meaning === FAILS) === (field === failing));
      const { empty = [], filled = [] } = Object.groupBy(possible, ([, meaning]) =>
        meaning === undefined ? "empty" : "filled",
      );
      const isEmpty = filled.length === 0 || (empty.length > 0 && random() < EMPTY_SHARE);
      const way = pick(isEmpty ? empty : filled);
      const [, meaning] = way;
      if (typeof meaning === "string")
        meanings.set(
          field.target,
          meaning.replace("§", () => String(number)),
        );
      else if (meaning !== undefined && meaning !== FAILS) meanings.set(field.target, meaning);
      else if (meaning === undefined && field.clears === true) {
        cleared.push(field.target);
        if (!field.target.startsWith("custom_attributes.")) meanings.set(field.target, null);
      }
      return cellsOf(field, way, number);
    });
    const id = failing?.target === "external_id" ? "" : name;
    return { input: inputOf(id, meanings, cleared), number, cells: isShort ? cells.slice(0, -1) : cells, isValid };
  };

  const written = (cell: string): string =>
    /["\r\n]/.test(cell) || cell.includes(delimiter) || random() < 0.1 ? `"${cell.replaceAll('"', '""')}"` : cell;
  const lineOf = (cells: readonly string[]): string => cells.map(written).join(delimiter);
  /** Headers ignore case and spaces, but for the names of attributes that no mapping names. */
  const headers = fields.flatMap(({ headers: own, source, target }) =>
    own.map((header) =>
      source === undefined && target.includes(".") ? header : pick([header, header.toUpperCase(), ` ${header} `]),
    ),
  );
  const lines = headerRow === 1 ? [] : ["A title", ""];
  lines.push(headers.join(delimiter));
  const rows: UploadRow[] = [];
  const singles: UploadFile["singles"][number][] = [];
  for (let place = 0; place < count; place++) {
    // Rows without any value don't count.
    if (random() < 0.02) lines.push(pick(["", lineOf(headers.map(() => (isMapped ? pick(["", " ", "?"]) : "")))]));
    const single = places.get(place);
    const isRepeated = isRepeating && !isAllNew && random() < 0.4;
    const own =
      isRepeated && single === undefined ? `often-${Math.floor(random() * 12)}` : `${single ?? "once"}-${place}`;
    const name = (single === "known" ? left.pop() : undefined) ?? `${prefix}-${own}`;
    const row = rowOf(name, lines.length + 1, single !== undefined || isAllNew || random() > 0.06);
    lines.push(lineOf(row.cells));
    rows.push(row);
    if (single !== undefined) singles.push({ ...row, kind: single });
  }
  const lineEnd = pick(["\n", "\r\n"]);
  const sources = (isOfEvent: boolean): object =>
    Object.fromEntries(
      fields.flatMap(({ target, source }) =>
        source !== undefined && target.startsWith("event.") === isOfEvent
          ? [[target.replace(/^event\./, ""), source]]
          : [],
      ),
    );
  return {
    text: `${pick(["", "\uFEFF"])}${lines.join(lineEnd)}${lineEnd}`,
    mapping: isMapped
      ? { ...options, fields: sources(false), ...(kind === "with events" && { event: sources(true) }) }
      : undefined,
    delimiter,
    rows,
    singles,
  };
};
