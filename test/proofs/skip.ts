/** The exit code of a proof that can't run here. */
export const SKIPPED = 77;

/** Ends a proof that can't run here. @param reason what it lacks */
export function skip(reason: string): never {
  console.log(`skipped: ${reason}`);
  process.exit(SKIPPED);
}
