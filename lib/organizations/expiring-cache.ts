import type { Clock } from "../clock.ts";

/**
 * Makes a cache of at most `capacity` entries, each with its own lifetime. A new entry displaces the oldest one. If the
 * clock is set back, entries expire at once: their age is unknown.
 */
export function createExpiringCache<V>(capacity: number, clock: Clock) {
  const entries = new Map<string, { readonly value: V; readonly since: number; readonly until: number }>();
  return {
    get: (key: string): V | undefined => {
      const entry = entries.get(key);
      const now = clock();
      if (entry === undefined || (now >= entry.since && now < entry.until)) return entry?.value;
      entries.delete(key);
      return undefined;
    },
    /** @param lifetime milliseconds */
    set: (key: string, value: V, lifetime: number): void => {
      entries.delete(key);
      const oldest = entries.size < capacity ? undefined : entries.keys().next();
      if (oldest?.done === false) entries.delete(oldest.value);
      const since = clock();
      entries.set(key, { value, since, until: since + lifetime });
    },
  };
}
