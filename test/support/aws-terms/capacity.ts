import type { Clock } from "../../../lib/clock.ts";

/**
 * Units a second of one partition key value
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html). An index has
 * partitions of its own with the same limits.
 */
const PARTITION_UNITS = { read: 3000, write: 1000 } as const;
/**
 * Units a second of one table, by default
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html).
 */
const TABLE_UNITS = { read: 40_000, write: 40_000 } as const;
/** What the smallest request uses: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html. */
const LEAST_UNITS = { read: 0.5, write: 1 } as const;
/** Partitions that were used recently; those that were idle longest are forgotten, since they have their full capacity. */
const REMEMBERED_MAX = 50_000;

/** What a request uses. */
export interface Use {
  /** Name of the table. */
  readonly resource: string;
  /** Name of the table's index that is used; undefined if it is the table itself. */
  readonly index?: string;
  readonly partition: string;
  readonly kind: "read" | "write";
}

/** The capacity that is left of tables, indexes and their partitions. One second's units can be saved up. */
export interface Capacity {
  /** Takes the least units that a request can use, if all partitions and their tables have capacity left. */
  readonly admit: (uses: readonly Use[]) => boolean;
  /**
   * Takes the units that an admitted request has used in all. Capacity may become negative, as a request is served
   * whole once it is admitted.
   */
  readonly settle: (use: Use, units: number) => void;
}

interface Bucket {
  units: number;
  /** Milliseconds since the epoch. */
  at: number;
}

/** @param scale factor for all limits, so that tests reach them sooner */
export function createCapacity(clock: Clock, scale = 1): Capacity {
  const buckets = new Map<string, Bucket>();
  const bucketOf = (name: string, perSecond: number): Bucket => {
    const now = clock();
    const { units, at } = buckets.get(name) ?? { units: perSecond, at: now };
    const bucket = { units: Math.min(perSecond, units + (perSecond * (now - at)) / 1000), at: now };
    buckets.delete(name);
    const oldest = buckets.size < REMEMBERED_MAX ? undefined : buckets.keys().next().value;
    if (oldest !== undefined) buckets.delete(oldest);
    buckets.set(name, bucket);
    return bucket;
  };
  const bucketsOf = ({ resource, index = "", partition, kind }: Use): Bucket[] => [
    bucketOf(`${kind} ${resource}/${index}`, TABLE_UNITS[kind] * scale),
    bucketOf(`${kind} ${resource}/${index} ${partition}`, PARTITION_UNITS[kind] * scale),
  ];
  const take = (use: Use, units: number): void => {
    for (const bucket of bucketsOf(use)) bucket.units -= units;
  };
  return {
    admit: (uses) => {
      if (!uses.flatMap(bucketsOf).every(({ units }) => units > 0)) return false;
      for (const use of uses) take(use, LEAST_UNITS[use.kind]);
      return true;
    },
    settle: (use, units) => take(use, units - LEAST_UNITS[use.kind]),
  };
}
