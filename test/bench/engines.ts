import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startEngines } from "../support/engines.ts";

/** The engine's memory mode is half as fast after a few ten thousand items; a file on a RAM disk is not. */
const RAM_DISK = "/dev/shm";

const start = async (): Promise<() => Promise<void>> => {
  const directory = existsSync(RAM_DISK) ? mkdtempSync(join(RAM_DISK, "work-items-bench-")) : undefined;
  const stop = await startEngines(directory === undefined ? {} : { file: join(directory, "tables.db") });
  return async () => {
    await stop();
    if (directory !== undefined) rmSync(directory, { recursive: true });
  };
};

/** Starts separate engines and stops them when `run` ends. */
export const withEngines = async <T>(run: () => Promise<T>): Promise<T> => {
  const stop = await start();
  try {
    return await run();
  } finally {
    await stop();
  }
};
