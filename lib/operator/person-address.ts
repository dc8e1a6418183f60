import type { Attributes } from "../aws/attribute-values.ts";
import type { RecordKey } from "../store/versioned-record.ts";
import { itemIdOf } from "../work-items/work-item-record.ts";
import { kindOf } from "./kinds-of-data.ts";

/** Where a text may still hold a person's address. */
export interface Mention {
  readonly kind: "custom_attributes" | "agent" | "actor" | "content" | "other";
  /** Id of the work item, or key of a record of another kind. */
  readonly id: string;
}

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

  /** Whether the record is an item or event whose agent or actor is the person. */
  isPersonOf(record: Attributes & RecordKey): boolean {
    return kindOf(record) === "ITEM" && this.#isAgentOrActor(record);
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
    const places = [
      ["custom_attributes", ["custom_attributes"]],
      ["agent", isEmptied ? [] : ["agent_name", "agent_external_id"]],
      ["actor", isEmptied ? [] : ["actor_name", "actor_external_id"]],
      ["content", ["content"]],
      ["other", ["external_id"]],
    ] as const;
    return places.flatMap(([kind, names]) => (names.some((name) => this.#isIn(record[name])) ? [{ kind, id }] : []));
  }

  #isAgentOrActor(record: Attributes): boolean {
    return this.equals(record["agent_email"]) || this.equals(record["actor_email"]);
  }

  #isIn(value: unknown): boolean {
    return typeof value === "string" && value.toLowerCase().includes(this.#wanted);
  }
}
