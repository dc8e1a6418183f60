import { startEngines } from "../support/engines.ts";

/** Starts separate engines and stops them when `run` ends. */
export const withEngines = async <T>(run: () => Promise<T>): Promise<T> => {
  const stop = await startEngines();
  try {
    return await run();
  } finally {
    await stop();
  }
};
