/** Runs callbacks in the order of their times, without waiting for any. */
export interface VirtualTime {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly at: (time: number, run: () => void) => void;
  /** Runs everything that is due until then. */
  readonly runUntil: (time: number) => Promise<void>;
}

interface Entry {
  readonly time: number;
  readonly order: number;
  readonly run: () => void;
}

const isBefore = (a: Entry, b: Entry): boolean => a.time < b.time || (a.time === b.time && a.order < b.order);

/** Promises that a callback resolves have run this many turns of their continuations before the next callback. */
const TURNS = 12;

export const createVirtualTime = (start: number): VirtualTime => {
  let now = start;
  let order = 0;
  const heap: Entry[] = [];
  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [heap[b]!, heap[a]!];
  };
  const push = (entry: Entry): void => {
    heap.push(entry);
    for (let at = heap.length - 1, parent = (at - 1) >> 1; at > 0 && isBefore(heap[at]!, heap[parent]!);) {
      swap(at, parent);
      at = parent;
      parent = (at - 1) >> 1;
    }
  };
  const pop = (): Entry => {
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    heap[0] = last;
    for (let at = 0; ;) {
      const children = [2 * at + 1, 2 * at + 2].filter((child) => child < heap.length);
      const least = children.reduce((best, child) => (isBefore(heap[child]!, heap[best]!) ? child : best), at);
      if (least === at) return first;
      swap(at, least);
      at = least;
    }
  };
  return {
    now: () => now,
    at: (time, run) => push({ time, order: order++, run }),
    runUntil: async (time) => {
      while (heap.length > 0 && heap[0]!.time <= time) {
        const entry = pop();
        now = entry.time;
        entry.run();
        for (let turn = 0; turn < TURNS; turn++) await Promise.resolve();
      }
      now = time;
    },
  };
};
