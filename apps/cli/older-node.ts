/** What the packed command uses and Node 20 lacks. */
if (!("groupBy" in Map)) {
  Object.assign(Map, {
    groupBy: <K, T>(items: Iterable<T>, keyOf: (item: T, index: number) => K): Map<K, T[]> => {
      const groups = new Map<K, T[]>();
      let index = 0;
      for (const item of items) {
        const key = keyOf(item, index++);
        const group = groups.get(key);
        if (group) group.push(item);
        else groups.set(key, [item]);
      }
      return groups;
    },
  });
}
if (!("fromAsync" in Array)) {
  Object.assign(Array, {
    fromAsync: async <T, U>(items: AsyncIterable<T>, convert: (item: T) => U): Promise<U[]> => {
      const all: U[] = [];
      for await (const item of items) all.push(convert(item));
      return all;
    },
  });
}
