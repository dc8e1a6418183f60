import { existsSync, mkdtempSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildPages } from "../../apps/local/api-server.ts";

/** Builds the pages into the suite's temporary directory, once for all tests that need them. */
export const preparePages = async (): Promise<void> => {
  const shared = join(tmpdir(), "pages");
  if (existsSync(shared)) return;
  const made = mkdtempSync(join(tmpdir(), "building-"));
  await buildPages(made);
  try {
    renameSync(made, shared);
  } catch (error) {
    // Another worker was faster.
    if (!existsSync(shared)) throw error;
  }
};
