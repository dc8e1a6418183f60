import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Makes a directory for the current test, which is removed when the test has finished. */
export const temporaryDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), "local-service-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
};
