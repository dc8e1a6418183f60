/** A call of a concurrent history. Moments are numbers in the order in which things happened. */
export interface Call<O, R> {
  readonly operation: O;
  readonly calledAt: number;
  /** When the response came, and what it was. Undefined: it may have taken effect at any later moment, or never. */
  readonly returned: { readonly at: number; readonly response: R } | undefined;
}

/** What an operation does to a state if it happens at one moment. States are immutable. */
export interface Specification<S, O, R> {
  readonly initial: S;
  readonly apply: (state: S, operation: O) => { readonly state: S; readonly allows: (response: R) => boolean };
  /** Equal states have equal keys. */
  readonly keyOf: (state: S) => string;
}

/**
 * Whether the calls of a history could have happened one after another, each at a moment between call and response
 * (Herlihy and Wing, "Linearizability: a correctness condition for concurrent objects", 1990). Searches the orders as
 * Wing and Gong do ("Testing and verifying concurrent objects", 1993), and visits no set of done calls and state twice
 * (Lowe, "Testing for linearizability", 2017).
 * @returns the calls in such an order; undefined if there is none
 */
export const findOrder = <S, O, R>(
  { initial, apply, keyOf }: Specification<S, O, R>,
  history: readonly Call<O, R>[],
): readonly Call<O, R>[] | undefined => {
  const visited = new Set<string>();
  const order: Call<O, R>[] = [];

  const search = (done: ReadonlySet<number>, state: S): boolean => {
    const left = history.map((_, index) => index).filter((index) => !done.has(index));
    if (left.every((index) => history[index]!.returned === undefined)) return true;
    const key = `${left.join()} ${keyOf(state)}`;
    if (visited.has(key)) return false;
    visited.add(key);
    const firstReturn = Math.min(...left.map((index) => history[index]!.returned?.at ?? Infinity));
    for (const index of left) {
      const call = history[index]!;
      // A call that returned before this one was made must come first.
      if (call.calledAt > firstReturn) continue;
      const next = apply(state, call.operation);
      if (call.returned && !next.allows(call.returned.response)) continue;
      order.push(call);
      if (search(new Set([...done, index]), next.state)) return true;
      order.pop();
    }
    return false;
  };
  return search(new Set(), initial) ? order : undefined;
};
