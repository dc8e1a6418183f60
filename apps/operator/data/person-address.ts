import type { Attributes } from "@work-items/lib/aws/attribute-values.ts";
import type { RecordKey } from "@work-items/lib/store/versioned-record.ts";
import type { Field } from "@work-items/lib/work-items/field-definition.ts";
import { KINDS } from "@work-items/lib/work-items/field-kinds.ts";
import { ATTRIBUTE_PREFIX, EVENT_FIELDS, WORK_ITEM_FIELDS } from "@work-items/lib/work-items/work-item-fields.ts";
import { itemIdOf } from "@work-items/lib/work-items/work-item-record.ts";
import { kindOf } from "./kinds-of-data.ts";

/** Where a text may still hold a person's address. */
export interface Mention {
  /** `agent`, `actor` or the name of another field or attribute; `other` is the ID of an item or event. */
  readonly kind: string;
  /** Id of the work item, or key of a record of another kind, such as a job, a webhook or an API key. */
  readonly id: string;
}

const FIELDS = Object.entries<Field>({ ...WORK_ITEM_FIELDS, ...EVENT_FIELDS });
/** Fields that are addresses as a whole, in records and in layers. */
const EMAILS: ReadonlySet<string> = new Set(
  FIELDS.filter(([, { kind }]) => kind === KINDS.email).map(([name]) => name),
);
/** Fields whose texts may hold an address, and what mentions call them. */
const TEXTS: readonly { readonly name: string; readonly kind: string; readonly isPerson: boolean }[] = [
  ...FIELDS.filter(([name]) => !EMAILS.has(name)).map(([name, { person }]) => ({
    name,
    kind: person ?? name,
    isPerson: person !== undefined,
  })),
  { name: "external_id", kind: "other", isPerson: false },
];

/** More than the part before or after the @ may have. */
const PART_MAX_CHARACTERS = 300;
/** A character before the @ (RFC 5322 §3.2.3), and a domain. Both may have letters of all alphabets. */
const BEFORE_AT = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~.-]$/u;
const AFTER_AT = /[\p{L}\p{M}\p{N}.-]{1,300}/uy;
/** What comes after the last character that is usually a separator: `ann` of `email=ann`. */
const AFTER_SEPARATOR = /[^!#$%&*/=?^`{|}~]*$/u;
/** A domain up to its last label: `example.com` of `example.com-1`. */
const WITH_LAST_LABEL = /^.*\.(?:xn--[a-z0-9-]+|\p{L}{2,})(?![\p{L}\p{M}\p{N}])/u;
const FILE_ENDING = /\.(?:csv|tsv|txt|xlsx|json|jsonl|ndjson|zip|gz)$/;

/**
 * The addresses in a text, in lower case. Each is as long as possible: `ab@example.com` doesn't contain `b@example.com`. If a
 * character may or may not belong to an address, both readings are included.
 */
function addressesIn(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  const all = text.toLowerCase();
  for (let at = all.indexOf("@"); at >= 0; at = all.indexOf("@", at + 1)) {
    let from = at;
    while (from > at - PART_MAX_CHARACTERS && BEFORE_AT.test(all.charAt(from - 1))) from -= 1;
    AFTER_AT.lastIndex = at + 1;
    const [after] = AFTER_AT.exec(all) ?? [];
    if (from === at || after === undefined) continue;
    const before = all.slice(from, at);
    const domain = after.replace(/[.-]+$/, "");
    const [labels = domain] = WITH_LAST_LABEL.exec(domain) ?? [];
    // Names of custom attributes are in layers, headers and mappings.
    const name = before.startsWith(ATTRIBUTE_PREFIX) ? before.slice(ATTRIBUTE_PREFIX.length) : before;
    for (const local of [before, AFTER_SEPARATOR.exec(before)![0], name]) {
      for (const each of [local, local.replace(/^[.'-]+/, "")]) {
        for (const host of [domain, labels, domain.replace(FILE_ENDING, "")]) found.add(`${each}@${host}`);
      }
    }
  }
  return found;
}

/** A text with its percent-encoded characters, as in a URL, also decoded. */
function withDecoded(text: string): string {
  if (!/%40/.test(text)) return text;
  const decode = (encoded: string): string => Buffer.from(encoded.replaceAll("%", ""), "hex").toString();
  return `${text}\n${text.replaceAll(/(?:%[0-9a-f]{2})+/gi, decode)}`;
}

/** The value of a text that is a JSON object or array; undefined for any other text. */
function parsed(text: string): unknown {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * One person by the email address, or several by a function that recognizes their addresses. Decides where records hold them:
 * for erasures, for receipts and for applying the ledger again.
 */
export class PersonAddress {
  readonly #isOne: (address: string) => boolean;

  /** @param address in any case, or whether an address in lower case is one of theirs */
  constructor(address: string | ((address: string) => boolean)) {
    if (typeof address !== "string") this.#isOne = address;
    else {
      const wanted = address.toLowerCase();
      this.#isOne = (each) => each === wanted;
    }
  }

  equals(value: unknown): boolean {
    return typeof value === "string" && this.#isOne(value.toLowerCase());
  }

  /** Whether the record is an item or event whose agent or actor is the person, or would be after an undo. */
  isPersonOf(record: Attributes & RecordKey): boolean {
    return kindOf(record) === "ITEM" && (this.#isAgentOrActor(record) || this.isInLayersOf(record));
  }

  /** Whether what an undo would put back holds the address. */
  isInLayersOf(record: Attributes | undefined): boolean {
    return this.#isIn(record?.["undo"]);
  }

  /** Whether any text of the record holds the address. */
  isHeldBy(record: Attributes): boolean {
    return this.#isIn(record);
  }

  /** The texts of a record that still hold the address when its agent or actor is emptied. */
  mentionsIn(record: Attributes & RecordKey): Mention[] {
    if (kindOf(record) !== "ITEM") {
      const attributes = Object.entries(record).filter(([name, value]) => this.isHeldBy({ [name]: value }));
      return attributes.map(([kind]) => ({ kind, id: `${record.pk} ${record.sk}` }));
    }
    const id = itemIdOf(record);
    const isEmptied = this.#isAgentOrActor(record);
    const holding = TEXTS.filter(({ name, isPerson }) => !(isPerson && isEmptied) && this.#isIn(record[name]));
    return [...new Set(holding.map(({ kind }) => kind))].map((kind) => ({ kind, id }));
  }

  #isAgentOrActor(record: Attributes): boolean {
    return [...EMAILS].some((name) => this.equals(record[name]));
  }

  /** Whether a value holds the address anywhere, in names too. @param isEmail whether each text is one address as a whole */
  #isIn(value: unknown, isEmail = false): boolean {
    if (typeof value === "string") {
      if (!/@|%40/.test(value)) return false;
      if (isEmail) return this.equals(value);
      const json = parsed(value);
      return json === undefined ? [...addressesIn(withDecoded(value))].some(this.#isOne) : this.#isIn(json);
    }
    if (Array.isArray(value)) return value.some((each) => this.#isIn(each, isEmail));
    if (typeof value !== "object" || value === null) return false;
    return Object.entries(value).some(([name, each]) => this.#isIn(each, EMAILS.has(name)) || this.#isIn(name));
  }
}
