import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type afterAll, onTestFinished } from "vitest";

/** Makes a directory for the current test, or for all of a file, which is removed when they have finished. */
export const temporaryDirectory = (whenFinished: typeof afterAll | typeof onTestFinished = onTestFinished): string => {
  const directory = mkdtempSync(join(tmpdir(), "work-items-test-"));
  whenFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
};
