/** What a program put around or into the IDs of a column. */
export interface Wrapping {
  /** What it is, such as "an apostrophe". */
  readonly name: string;
  /** The ID in a text; undefined if the text isn't wrapped like that. */
  readonly inside: (text: string) => string | undefined;
}

/** A wrapping. @param pattern its first group that matches is the ID */
function wrappedBy(name: string, pattern: RegExp): Wrapping {
  return {
    name,
    inside: (text) =>
      pattern
        .exec(text)
        ?.slice(1)
        .find((group) => group !== undefined)
        ?.replaceAll('""', '"'),
  };
}

const WRAPPINGS: readonly Wrapping[] = [
  wrappedBy("a link formula", /^=\s*HYPERLINK\s*\(\s*"(?:[^"]|"")*"\s*[,;]\s*"((?:[^"]|"")+)"\s*\)$/i),
  wrappedBy("an apostrophe", /^['’]([^'’]+)$/),
  wrappedBy("a backtick", /^`([^`]+)`?$/),
  wrappedBy("marks of a program's bytes", /^b(?:'([^']+)'|"([^"]+)")$/),
  wrappedBy("brackets of a list", /^\[\s*(?:'([^',]+)'|"([^",]+)")\s*\]$/),
  wrappedBy("an HTML link", /^<a\s[^>]*>\s*([^<]+?)\s*<\/a>$/i),
  wrappedBy("a Markdown link", /^\[([^[\]]+)\]\([^()\s]+\)$/),
];

/** A quick check before an ID is compared with the wrappings. */
const MAY_BE_WRAPPED = /^(?:[='’`[<]|b['"])/;

function wrappingOf(text: string): Wrapping | undefined {
  return MAY_BE_WRAPPED.test(text) ? WRAPPINGS.find(({ inside }) => inside(text) !== undefined) : undefined;
}

/** Texts of which a spreadsheet or script may have made something else, by what they look like. */
const FORMS = {
  /** IDs of most systems. */
  key: /^[A-Z]+[-_ #]?\d+$/,
  short: /^\d{1,3}$/,
  whole: /^\d{4,15}$/,
  /** Spreadsheets keep 15 digits of a number, and write zeros for the others. */
  cut: /^\d{15}0+$/,
  long: /^\d{16,}$/,
  grouped: /^[1-9]\d{0,2}(?:([,. '’\u00A0\u202F])\d{3})(?:\1\d{3})*$/,
  /** Without a fraction, only spreadsheets write an exponent, always with a sign. */
  exponent: /^\d[.,]\d+E[+-]?\d+$|^\dE\+\d+$/i,
  zeros: /^\d+[.,]0+$/,
  fraction: /^\d+[.,]\d+$/,
  /** A day of a month, or a month of a year, as spreadsheets show it. Keys of projects are in capital letters. */
  day: /^\d\d?(?:-|\. ?)(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mrz|Mär|Mai|Okt|Dez|janv|févr|mars|avr|mai|juin|juil|août|sept|oct|nov|déc|ene|feb|mar|abr|may|jun|jul|ago|sep|dic)\.?$|^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mrz|Mär|Mai|Okt|Dez|janv|févr|mars|avr|mai|juin|juil|août|sept|oct|nov|déc|ene|feb|mar|abr|may|jun|jul|ago|sep|dic)\.?[- ]\d\d$/,
  /** A date, maybe with a time, or a duration. */
  date: /^(?:(?:19|20)\d\d([-/.])(?:0?[1-9]|1[0-2])\1(?:[0-2]?\d|3[01])|[0-3]?\d([-/.])[0-3]?\d\2(?:19|20)\d\d)(?: \d\d:\d\d(?::\d\d)?)?$|^\d+:\d\d:\d\d$/,
} as const;
type Form = keyof typeof FORMS | "other";

function formOfId(text: string): Form {
  return (Object.keys(FORMS) as (keyof typeof FORMS)[]).find((form) => FORMS[form].test(text)) ?? "other";
}

/** Separators of thousands, which a person may leave out. */
export const SEPARATORS: Wrapping = {
  name: "separators of thousands",
  inside: (text) => (FORMS.grouped.test(text) ? text.replaceAll(/\D/g, "") : undefined),
};

/** Fewer zeros after the digits that spreadsheets keep may be chance. */
const LOST_DIGITS_MIN = 3;
const KEPT_DIGITS = 15;
/** More shapes mean free text. */
const SHAPES_MAX = 50;

/** Texts of one kind in a column: how many, and the first. */
interface Counted {
  readonly rows: number;
  readonly first: string;
}

/** What all IDs of a column say about the programs that wrote them. */
export interface IdJudgement {
  /** How all of them are wrapped; undefined if not all are wrapped alike. */
  readonly wrapping: Wrapping | undefined;
  /** The first wrapped one, or the first with separators where all that are long enough have them; else undefined. */
  readonly example: string | undefined;
  /** Why they may not be the IDs that the other system shows, each a sentence without its end. */
  readonly doubts: readonly string[];
}

export const NOT_JUDGED: IdJudgement = { wrapping: undefined, example: undefined, doubts: [] };

/** Judges the IDs of a column: whether they are as the other system shows them. Keeps counts only. */
export class IdForms {
  readonly #forms = new Map<Form, Counted>();
  readonly #wrapped = new Map<Wrapping, Counted>();
  /** The shapes of texts that have none of these forms. */
  readonly #shapes = new Set<string>();
  #rows = 0;
  #lostDigits = 0;

  observe(id: string): void {
    const text = id.trim();
    this.#rows++;
    const wrapping = wrappingOf(text);
    if (wrapping !== undefined) count(this.#wrapped, wrapping, text);
    const form = formOfId(text);
    count(this.#forms, form, text);
    if (form === "cut") this.#lostDigits += text.length - KEPT_DIGITS;
    if (form === "other" && this.#shapes.size < SHAPES_MAX) this.#shapes.add(formOf(text));
  }

  get judgement(): IdJudgement {
    const [wrapping, wrapped] = [...this.#wrapped][0] ?? [];
    const areWrapped = wrapped?.rows === this.#rows;
    const rewritten = this.#rewritten();
    const doubts: string[] = [];
    if (wrapping !== undefined && !areWrapped) {
      doubts.push(`only some values have ${wrapping.name} around them, such as ${wrapped!.first}`);
    }
    if (rewritten !== undefined) doubts.push(`a spreadsheet or script has rewritten values such as "${rewritten}"`);
    const dates = this.#forms.get("date");
    if (dates?.rows === this.#rows) doubts.push(`values such as "${dates.first}" are dates or times`);
    const grouped = this.#forms.get("grouped");
    // With other fractions, as in 1.001 and 1.1, a point separates parts of the ID.
    if (grouped === undefined || this.#forms.has("fraction")) {
      return areWrapped ? { wrapping, example: wrapped.first, doubts } : { ...NOT_JUDGED, doubts };
    }
    const areGrouped = [...this.#forms.keys()].every((form) => form === "grouped" || form === "short");
    const example = areGrouped ? grouped.first : undefined;
    const have = areGrouped
      ? `values such as "${grouped.first}" have`
      : `only some values, such as "${grouped.first}", have`;
    return {
      wrapping: undefined,
      example,
      doubts: [...doubts, `${have} ${SEPARATORS.name}, which are part of the ID`],
    };
  }

  /** The first text that isn't as the other system shows it. */
  #rewritten(): string | undefined {
    const isCut = this.#lostDigits >= LOST_DIGITS_MIN && !this.#forms.has("long");
    // With other fractions, as in 1.0 and 1.1, they are the numbers of chapters.
    const areZeros = !this.#forms.has("fraction");
    const date = this.#forms.get("date");
    const isDate = date !== undefined && date.rows < this.#rows && !this.#shapes.has(formOf(date.first));
    const forms: readonly Form[] = [
      "exponent",
      "day",
      ...(areZeros ? (["zeros"] as const) : []),
      ...(isCut ? (["cut"] as const) : []),
      ...(isDate ? (["date"] as const) : []),
    ];
    return forms.flatMap((form) => this.#forms.get(form)?.first ?? [])[0];
  }
}

function count<K>(counts: Map<K, Counted>, key: K, text: string): void {
  const { rows = 0, first = text } = counts.get(key) ?? {};
  counts.set(key, { rows: rows + 1, first });
}

/** A text with placeholders for digits and letters: `a-#` for `T-17`. */
export function formOf(text: string): string {
  return text.replaceAll(/\d+/g, "#").replaceAll(/\p{L}+/gu, "a");
}
