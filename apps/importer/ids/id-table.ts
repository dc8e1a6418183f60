/** Limit of the different IDs that are remembered: about 200 MB. */
const IDS_MAX = 10_000_000;

const SLOTS_MIN = 1024;
/** IDs per slot. Searches are slow beyond that. */
const LOAD_MAX = 0.6;
/** A slot has a hash of 64 bits in two numbers and a row, which is 0 in a free one. */
const SLOT = 3;

function mixed(hash: number, other: number): number {
  return Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35) ^ (hash >>> 7);
}

/** The hash of an ID: cyrb53, not cut to 53 bits. */
function hashOf(id: string): readonly [number, number] {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let index = 0; index < id.length; index++) {
    const code = id.charCodeAt(index);
    low = Math.imul(low ^ code, 0x9e3779b1);
    high = Math.imul(high ^ code, 0x5f356495);
  }
  return [mixed(low, high) >>> 0, mixed(high, low) >>> 0];
}

/**
 * The first row of each ID in a file of any size. Compares IDs by a hash of 64 bits: of 400,000 files with ten million different
 * IDs, one has two with the same hash.
 */
export class IdTable {
  #slots = new Uint32Array(SLOTS_MIN * SLOT);
  #size = 0;
  /** Whether every ID was remembered. */
  isComplete = true;
  readonly #max: number;

  constructor(max = IDS_MAX) {
    this.#max = max;
  }

  /** The first row of an ID; undefined if it wasn't remembered. */
  rowOf(id: string): number | undefined {
    return this.#slots[this.#find(...hashOf(id)) + 2] || undefined;
  }

  /** Remembers the row of an ID, if it is the first. @returns the first row; undefined if this is it */
  firstRow(id: string, row: number): number | undefined {
    const [first, second] = hashOf(id);
    const at = this.#find(first, second);
    const known = this.#slots[at + 2];
    if (known !== 0) return known;
    if (this.#size === this.#max) {
      this.isComplete = false;
      return undefined;
    }
    this.#slots.set([first, second, row], at);
    this.#size += 1;
    if (this.#size * SLOT >= this.#slots.length * LOAD_MAX) this.#grow();
    return undefined;
  }

  /** Where the slot of a hash begins: a free one if it wasn't remembered. */
  #find(first: number, second: number): number {
    const slots = this.#slots;
    let at = (first & (slots.length / SLOT - 1)) * SLOT;
    while (slots[at + 2] !== 0 && (slots[at] !== first || slots[at + 1] !== second)) {
      at = at + SLOT === slots.length ? 0 : at + SLOT;
    }
    return at;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(before.length * 2);
    for (let at = 0; at < before.length; at += SLOT) {
      if (before[at + 2] !== 0)
        this.#slots.set(before.subarray(at, at + SLOT), this.#find(before[at]!, before[at + 1]!));
    }
  }
}
