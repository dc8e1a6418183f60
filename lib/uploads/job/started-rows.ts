/** Shards of a job at most, which are applied in parallel. */
export const SHARDS_MAX = 8;
/** Rows of a shard that are applied and counted together, at most. */
export const WINDOW_ROWS_MAX = 1000;
