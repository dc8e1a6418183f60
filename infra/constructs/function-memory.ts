/**
 * Lambda gives CPU in proportion to memory. Functions that only read mostly wait for DynamoDB; those that parse and
 * validate megabytes get 1,769 MB, which is one whole vCPU. A single thread cannot use more.
 */
export const MEMORY_MB = { reads: 1024, computes: 1769 } as const;

/** Lambda's default, 5 % of the memory, makes a worker use a hundred megabytes more for the same CPU time. */
const SEMI_SPACE_MB = 16;
/** `NODE_OPTIONS` of a function. If they set one limit, Lambda sets none itself, so they set both. */
export function nodeOptionsFor(memoryMb: number): string {
  return `--max-semi-space-size=${SEMI_SPACE_MB} --max-old-space-size=${Math.floor(memoryMb * 0.9)}`;
}
