import type { EventInput, ItemInput } from "../oracle/reference-item.ts";

/**
 * Kinds of rows whose item has no other row. `new`: a row creates it; `gone`: it was deleted before the upload, so that
 * the row restores it; `kept`: it exists as in the row, so that only the row's event is new; `known`: others know it too.
 */
const SINGLE_KINDS = ["new", "gone", "kept", "known"] as const;
const SINGLES_OF_A_KIND = 6;

/** A row of a file, and whether it is valid. */
export interface UploadRow {
  readonly input: ItemInput & { readonly type: string };
  readonly number: number;
  readonly isValid: boolean;
}

/** A CSV file, and how it is to be read. */
export interface UploadFile {
  readonly text: string;
  readonly mapping: object | undefined;
  readonly rows: readonly UploadRow[];
  /** Rows whose items have no other row; a client may change them. */
  readonly singles: readonly (UploadRow & { readonly kind: (typeof SINGLE_KINDS)[number] })[];
}

const MAPPING = {
  fields: {
    external_id: { column: "Ticket" },
    type: { column: "Kind" },
    agent_email: { column: "Mail" },
    "custom_attributes.n": { column: "Number", as: "number" },
  },
};
const EVENTS = { event: { external_id: { column: "Event" }, content: { column: "Text" } } };

/** Kinds of files: without a mapping, with one, and with one that makes events of rows. */
export const FILE_KINDS = ["plain", "mapped", "with events"] as const;

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
  kind: (typeof FILE_KINDS)[number],
  isRepeating: boolean,
  { isSmall, prefix, known }: { readonly isSmall: boolean; readonly prefix: string; readonly known: readonly string[] },
): UploadFile => {
  const count = isSmall ? 160 : rowsOf(random);
  const places = placeSingles(random, count);
  const isAllNew = random() < 0.5;
  const others = [...known];
  const rows = Array.from({ length: count }, (_, number): UploadRow => {
    const single = places.get(number);
    const isRepeated = isRepeating && !isAllNew && random() < 0.4;
    const own = isRepeated ? `often-${Math.floor(random() * 12)}` : `${single ?? "once"}-${number}`;
    const external_id = (single === "known" ? others.pop() : undefined) ?? `${prefix}-${own}`;
    const event: EventInput = { external_id: `e${number % 3}`, content: `line 1\nline ${number}` };
    return {
      number,
      isValid: single !== undefined || isAllNew || random() > 0.06,
      input: {
        external_id,
        type: `kind "${number % 7}"`,
        custom_attributes: { n: kind === "plain" ? String(number) : number },
        ...(kind === "with events" && { events: [event] }),
      },
    };
  });
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const lines = rows.map(({ input, number, isValid }) =>
    [
      input.external_id,
      quoted(input.type),
      isValid ? "" : "no email address",
      String(number),
      ...(input.events ?? []).map(({ external_id, content }) => `${external_id},${quoted(content ?? "")}`),
    ].join(","),
  );
  const columns = kind === "plain" ? "external_id,type,agent_email,custom_attributes.n" : "Ticket,Kind,Mail,Number";
  const header = kind === "with events" ? `${columns},Event,Text` : columns;
  return {
    text: `${[header, ...lines].join("\n")}\n`,
    mapping: kind === "plain" ? undefined : { ...MAPPING, ...(kind === "with events" && EVENTS) },
    rows,
    singles: rows.flatMap((row) => {
      const single = places.get(row.number);
      return single === undefined ? [] : [{ ...row, kind: single }];
    }),
  };
};
