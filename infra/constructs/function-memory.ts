/**
 * CPU comes with memory. A read waits for DynamoDB more than it computes; whoever parses and validates megabytes
 * gets 1,769 MB, which is one whole vCPU, and more than that a single thread cannot use.
 */
export const MEMORY_MB = { reads: 1024, computes: 1769 } as const;

/** Lambda's own choice, 5 % of the memory, lets a worker grow by a hundred megabytes more at the same CPU time. */
const SEMI_SPACE_MB = 16;
/** What V8 makes of it: two semi-spaces, and the size of one for large objects. */
export const YOUNG_GENERATION_MB = 3 * SEMI_SPACE_MB;

/** `NODE_OPTIONS` of a function: Lambda's Node sets neither limit where they name one, so they name both. */
export const nodeOptionsFor = (memoryMb: number): string =>
  `--max-semi-space-size=${SEMI_SPACE_MB} --max-old-space-size=${Math.floor(memoryMb * 0.9)}`;
