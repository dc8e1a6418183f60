/** How a program wrapped the IDs of a column. */
export interface Wrapping {
  /** What a person sees around the ID, such as "an apostrophe". */
  readonly name: string;
  readonly pattern: RegExp;
}

/** A mark that a spreadsheet or an export puts around a text. The ID is the first group that matched. */
const WRAPPINGS: readonly Wrapping[] = [
  { name: "a link formula", pattern: /^=\s*HYPERLINK\s*\(\s*"(?:[^"]|"")*"\s*[,;]\s*"((?:[^"]|"")+)"\s*\)$/i },
  { name: "an apostrophe", pattern: /^['’]([^'’]+)$/ },
  { name: "a backtick", pattern: /^`([^`]+)`?$/ },
  { name: "the marks of a program's bytes", pattern: /^b(?:'([^']+)'|"([^"]+)")$/ },
  { name: "the brackets of a list", pattern: /^\[\s*(?:'([^',]+)'|"([^",]+)")\s*\]$/ },
  { name: "an HTML link", pattern: /^<a\s[^>]*>\s*([^<]+?)\s*<\/a>$/i },
  { name: "a Markdown link", pattern: /^\[([^[\]]+)\]\([^()\s]+\)$/ },
];

/** A quick check before an ID is compared with the marks. */
const MAY_BE_WRAPPED = /^(?:[='’`[<]|b['"])/;

function wrappingOf(text: string): Wrapping | undefined {
  return MAY_BE_WRAPPED.test(text) ? WRAPPINGS.find(({ pattern }) => pattern.test(text)) : undefined;
}

/** The ID in a cell whose column is wrapped alike; any other cell as it is. */
export function unwrapped(cell: string, { pattern }: Wrapping): string {
  const found = pattern
    .exec(cell.trim())
    ?.slice(1)
    .find((group) => group !== undefined);
  return found?.replaceAll('""', '"') ?? cell;
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
  date: /^(?:19|20)\d\d([-/.])(?:0?[1-9]|1[0-2])\1(?:[0-2]?\d|3[01])$|^[0-3]?\d([-/.])[0-3]?\d\2(?:19|20)\d\d$/,
} as const;
type Form = keyof typeof FORMS | "other";

function formOfId(text: string): Form {
  return (Object.keys(FORMS) as (keyof typeof FORMS)[]).find((form) => FORMS[form].test(text)) ?? "other";
}

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
  /** Whether all numbers that are large enough have separators of thousands. */
  readonly areGrouped: boolean;
  /** Why they may not be the IDs that the other system shows, each a sentence without its end. */
  readonly doubts: readonly string[];
}

export const NOT_JUDGED: IdJudgement = { wrapping: undefined, areGrouped: false, doubts: [] };

/** Judges the IDs of a column: whether they are as the other system shows them. Keeps counts only. */
export class IdForms {
  readonly #forms = new Map<Form, Counted>();
  readonly #wrapped = new Map<Wrapping, Counted>();
  /** The shapes of texts that have no form. */
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
    if (form === "other" && this.#shapes.size < SHAPES_MAX) this.#shapes.add(shapeOf(text));
  }

  get judgement(): IdJudgement {
    const [wrapping, wrapped] = [...this.#wrapped][0] ?? [];
    const areWrapped = wrapped?.rows === this.#rows;
    const doubtOfWrapped =
      wrapping === undefined || areWrapped
        ? []
        : [`only some values have ${wrapping.name} around them, such as ${wrapped!.first}`];
    const rewritten = this.#rewritten();
    const doubtOfRewritten =
      rewritten === undefined ? [] : [`a spreadsheet or script has rewritten values such as "${rewritten}"`];
    const grouped = this.#forms.get("grouped");
    // With other fractions, as in 1.001 and 1.1, a point separates parts of the ID.
    if (grouped === undefined || this.#forms.has("fraction")) {
      return {
        wrapping: areWrapped ? wrapping : undefined,
        areGrouped: false,
        doubts: [...doubtOfWrapped, ...doubtOfRewritten],
      };
    }
    const areGrouped = [...this.#forms.keys()].every((form) => form === "grouped" || form === "short");
    const have = areGrouped
      ? `values such as "${grouped.first}" have`
      : `only some values, such as "${grouped.first}", have`;
    return {
      wrapping: undefined,
      areGrouped,
      doubts: [...doubtOfWrapped, ...doubtOfRewritten, `${have} a separator of thousands, which is part of the ID`],
    };
  }

  /** The first text that isn't as the other system shows it. */
  #rewritten(): string | undefined {
    const isCut = this.#lostDigits >= LOST_DIGITS_MIN && !this.#forms.has("long");
    // With other fractions, as in 1.0 and 1.1, they are the numbers of chapters.
    const areZeros = !this.#forms.has("fraction");
    const date = this.#forms.get("date");
    const isDate = date !== undefined && date.rows < this.#rows && !this.#shapes.has(shapeOf(date.first));
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

/** A text with a placeholder for each number. */
function shapeOf(text: string): string {
  return text.replaceAll(/\d+/g, "#");
}
