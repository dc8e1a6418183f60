import type { Attributes } from "../aws/attribute-values.ts";
import type { RecordKey } from "../store/versioned-record.ts";
import type { Field } from "../work-items/field-definition.ts";
import { KINDS } from "../work-items/field-kinds.ts";
import { EVENT_FIELDS, WORK_ITEM_FIELDS } from "../work-items/work-item-fields.ts";
import { itemIdOf } from "../work-items/work-item-record.ts";
import { kindOf } from "./kinds-of-data.ts";

/** Where a text may still hold a person's address. */
export interface Mention {
  /** `agent`, `actor` or the name of another field; `other` is none of them. */
  readonly kind: string;
  /** Id of the work item, or key of a record of another kind. */
  readonly id: string;
}

/** What may hold an address in its texts, and what mentions call it. What is an address is compared as a whole. */
const PLACES: readonly { readonly name: string; readonly kind: string; readonly isPerson: boolean }[] = [
  ...Object.entries<Field>({ ...WORK_ITEM_FIELDS, ...EVENT_FIELDS }).flatMap(([name, { kind, person }]) =>
    kind === KINDS.email ? [] : [{ name, kind: person ?? name, isPerson: person !== undefined }],
  ),
  { name: "external_id", kind: "other", isPerson: false },
];

/** A person's email address, whatever its case, and where records hold it. */
export class PersonAddress {
  readonly #wanted: string;

  constructor(address: string) {
    this.#wanted = address.toLowerCase();
  }

  /** Whether a value is the address. */
  equals(value: unknown): boolean {
    return typeof value === "string" && value.toLowerCase() === this.#wanted;
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
    return Object.values(record).some((value) => this.#isIn(value));
  }

  /** The texts of a record that hold the address, once its agent or actor is empty. */
  mentionsIn(record: Attributes & RecordKey): Mention[] {
    if (kindOf(record) !== "ITEM") {
      return this.isHeldBy(record) ? [{ kind: "other", id: `${record.pk} ${record.sk}` }] : [];
    }
    const id = itemIdOf(record);
    const isEmptied = this.#isAgentOrActor(record);
    const holding = PLACES.filter(({ name, isPerson }) => !(isPerson && isEmptied) && this.#isIn(record[name]));
    return [...new Set(holding.map(({ kind }) => kind))].map((kind) => ({ kind, id }));
  }

  #isAgentOrActor(record: Attributes): boolean {
    return this.equals(record["agent_email"]) || this.equals(record["actor_email"]);
  }

  #isIn(value: unknown): boolean {
    return typeof value === "string" && value.toLowerCase().includes(this.#wanted);
  }
}
