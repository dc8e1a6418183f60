/** Limit of the different IDs that are remembered: about 190 MB. */
export const IDS_MAX = 10_000_000;

const SLOTS_MIN = 1024;
/** IDs per slot. Searches are slow beyond that. */
const LOAD_MAX = 0.6;

function mixed(hash: number, other: number): number {
  return Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35) ^ (hash >>> 7);
}

/**
 * The first row of each ID in a file of any size. Takes 12 bytes for an ID and 4 for a slot. Compares IDs by a hash of
 * 64 bits (cyrb53, not cut to 53): of 400,000 files with ten million different IDs, one has two with the same hash.
 */
export class IdTable {
  #slots = new Uint32Array(SLOTS_MIN);
  #low = new Uint32Array(SLOTS_MIN * LOAD_MAX);
  #high = new Uint32Array(SLOTS_MIN * LOAD_MAX);
  #rows = new Uint32Array(SLOTS_MIN * LOAD_MAX);
  #size = 0;
  #isComplete = true;
  readonly #max: number;

  constructor(max = IDS_MAX) {
    this.#max = max;
  }

  /** Whether every ID was remembered. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The first row of an ID; undefined if it wasn't remembered. */
  rowOf(id: string): number | undefined {
    const entry = this.#slots[this.#find(id).slot]!;
    return entry === 0 ? undefined : this.#rows[entry - 1];
  }

  /** Remembers the row of an ID, if it is the first. @returns the first row; undefined if this is it */
  firstRow(id: string, row: number): number | undefined {
    const { first, second, slot } = this.#find(id);
    const entry = this.#slots[slot]!;
    if (entry !== 0) return this.#rows[entry - 1];
    if (this.#size === this.#max) {
      this.#isComplete = false;
      return undefined;
    }
    this.#low[this.#size] = first;
    this.#high[this.#size] = second;
    this.#rows[this.#size] = row;
    this.#size += 1;
    this.#slots[slot] = this.#size;
    if (this.#size === this.#low.length) this.#grow();
    return undefined;
  }

  /** The hash of an ID, and its slot: an empty one if it wasn't remembered. */
  #find(id: string) {
    let low = 0xdeadbeef;
    let high = 0x41c6ce57;
    for (let index = 0; index < id.length; index++) {
      const code = id.charCodeAt(index);
      low = Math.imul(low ^ code, 0x9e3779b1);
      high = Math.imul(high ^ code, 0x5f356495);
    }
    const first = mixed(low, high) >>> 0;
    const second = mixed(high, low) >>> 0;
    const mask = this.#slots.length - 1;
    let slot = first & mask;
    for (let entry = this.#slots[slot]!; entry !== 0; entry = this.#slots[slot]!) {
      if (this.#low[entry - 1] === first && this.#high[entry - 1] === second) break;
      slot = (slot + 1) & mask;
    }
    return { first, second, slot };
  }

  #grow(): void {
    const slots = new Uint32Array(this.#slots.length * 2);
    const larger = (entries: Uint32Array): Uint32Array<ArrayBuffer> => {
      const grown = new Uint32Array(slots.length * LOAD_MAX);
      grown.set(entries);
      return grown;
    };
    for (let entry = 0; entry < this.#size; entry++) {
      let slot = this.#low[entry]! & (slots.length - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
      slots[slot] = entry + 1;
    }
    this.#slots = slots;
    this.#low = larger(this.#low);
    this.#high = larger(this.#high);
    this.#rows = larger(this.#rows);
  }
}
