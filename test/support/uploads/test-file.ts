import type { Mapping } from "../../../lib/uploads/mapping/mapping.ts";

/** A CSV file to upload, and what it makes. */
export interface TestFile {
  readonly text: string;
  readonly rows: number;
  readonly mapping?: Mapping;
  /** Whether the file is only tried. */
  readonly dryRun?: boolean;
  readonly externalIds: readonly string[];
  /** The external_ids of its events, each after that of its item. */
  readonly events: readonly (readonly [item: string, event: string])[];
  /** The external_ids of items that have one row each, by what a client does to them. */
  readonly singles: Readonly<Record<SingleKind, readonly string[]>>;
}

/**
 * What a client does to items that have one row each, as soon as the row is applied: it patches or deletes the item, or
 * changes its event. Items of `kept` rows exist before with the type of their rows, so that only the event is new; they
 * are patched.
 */
const SINGLE_KINDS = ["patched", "deleted", "kept", "event changed"] as const;
/** A kind of item that a client changes. */
type SingleKind = (typeof SINGLE_KINDS)[number];
const SINGLES_OF_A_KIND = 4;

/** Items that have one row each, anywhere in a file. */
const placeSingles = (random: () => number, rows: number) => {
  const byRow = new Map<number, { readonly kind: SingleKind; readonly name: string }>();
  for (const kind of SINGLE_KINDS) {
    for (let count = 0; count < SINGLES_OF_A_KIND; count++) {
      const row = Math.floor(random() * rows);
      if (!byRow.has(row)) byRow.set(row, { kind, name: `${kind} ${row}` });
    }
  }
  const namesOf = (kind: SingleKind): string[] =>
    [...byRow.values()].filter((single) => single.kind === kind).map(({ name }) => name);
  const singles = Object.fromEntries(SINGLE_KINDS.map((kind) => [kind, namesOf(kind)])) as Record<SingleKind, string[]>;
  return { byRow, singles, names: [...byRow.values()].map(({ name }) => name) };
};

/** Type of the `kept` items before the upload and in their rows. */
export const KEPT_TYPE = "kept";

const ids = Array.from({ length: 150 }, (_, index) => `item-${index}`);
/** Half of the files begin with external_ids that occur once, so that workers begin to assume that all items are new. */
const onceIn = (random: () => number, rows: number): string[] =>
  Array.from({ length: random() < 0.5 ? Math.floor(rows * 0.7) : 0 }, (_, index) => `once-${index}`);

/** A file without mapping, with repeated external_ids and some invalid rows. */
export const makeFile = (random: () => number, rows: number): TestFile => {
  const once = onceIn(random, rows);
  const { byRow, singles, names } = placeSingles(random, rows);
  const lines = Array.from({ length: rows }, (_, index) => {
    const single = byRow.get(index);
    if (single?.kind === "kept") return `${single.name},${KEPT_TYPE},,`;
    const unique = single?.name ?? once[index];
    if (unique !== undefined) return `${unique},row ${index},,`;
    const id = ids[Math.floor(random() * ids.length)]!;
    const kind = random();
    if (kind < 0.05) return `${id},row ${index},not-json,`;
    if (kind < 0.08) return `${id},ragged`;
    if (kind < 0.5) return `${id},"row ""${index}""","{""k${Math.floor(random() * 4)}"": ${index}}",`;
    return `${id},,,"line 1\nline ${index}"`;
  });
  const text = `external_id,type,custom_attributes,custom_attributes.text\n${lines.join("\n")}\n`;
  return { text, rows, externalIds: [...ids, ...once, ...names], events: [], singles };
};

const MAPPING: Mapping = {
  fields: {
    external_id: { column: "Nr" },
    type: { column: "Art" },
    status: { column: "Stand", values: { offen: "pending", zu: "completed" }, otherwise: "in_progress" },
  },
  event: {
    external_id: { columns: ["Schritt"] },
    content: { column: "Text" },
    occurred_at: { column: "Zeit", format: "dd.MM.yyyy HH:mm", time_zone: "Europe/Berlin" },
  },
  others: "custom_attributes",
  empty: ["?"],
  delimiter: ";",
};
const HEADER = "Nr;Art;Stand;Schritt;Zeit;Text;Farbe";
const EVENT_IDS = 6;

/**
 * A file with a mapping that makes events: rows of an item add events or change them again, some change the event
 * alone, some are invalid.
 */
export const makeMappedFile = (random: () => number, rows: number): TestFile => {
  const once = onceIn(random, rows);
  const { byRow, singles, names } = placeSingles(random, rows);
  const events = new Map<string, readonly [string, string]>();
  const pick = (...texts: readonly string[]): string => texts[Math.floor(random() * texts.length)]!;
  const lines = Array.from({ length: rows }, (_, index) => {
    const single = byRow.get(index);
    const id = single?.name ?? once[index] ?? ids[Math.floor(random() * ids.length)]!;
    const event = single === undefined ? `e${Math.floor(random() * EVENT_IDS)}` : "e0";
    events.set(`${id} ${event}`, [id, event]);
    const time = `0${1 + (index % 9)}.06.2023 1${index % 10}:00`;
    if (single?.kind === "kept") return `${single.name};${KEPT_TYPE};?;${event};${time};text;`;
    const kind = single === undefined ? random() : 1;
    if (kind < 0.05) return `${id};row ${index};;${event};31.02.2023;;`;
    if (kind < 0.08) return `${id};;;;${time};without an event;`;
    if (kind < 0.4) return `${id};;;${event};${time};"step; ""${pick("a", "b")}""";`;
    return `${id};row ${pick("a", "b")};${pick("offen", "ZU", "?", "läuft")};${event};${time};text ${index};${pick("rot", "?")}`;
  });
  const externalIds = [...ids, ...once, ...names];
  return {
    text: `${HEADER}\n${lines.join("\n")}\n`,
    rows,
    mapping: MAPPING,
    externalIds,
    events: [...events.values()],
    singles,
  };
};
