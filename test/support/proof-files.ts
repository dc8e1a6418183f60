import { globSync } from "node:fs";
import { join } from "node:path";

/** The tests that take long. */
export const PROOFS: readonly string[] = ["test/proofs/**/*.test.ts", "test/hostile/**/*.test.ts"];

/** Whether a part of a path says that proofs are meant. */
export function namesProofs(part: string): boolean {
  return /proofs|hostile/.test(part);
}

/** The files of proofs whose paths contain one of some parts. */
export function proofsWith(parts: readonly string[]): string[] {
  return globSync([...PROOFS], { cwd: join(import.meta.dirname, "../..") }).filter((file) =>
    parts.some((part) => file.includes(part)),
  );
}
