import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalStack, startLocalStack } from "../../infra/local/stack.ts";

/** Starts what `npm start` starts, on any free port and with data of its own, which are removed when it is stopped. */
export const startLocalService = async (): Promise<LocalStack> => {
  const dataDirectory = mkdtempSync(join(tmpdir(), "local-service-"));
  const stack = await startLocalStack({ port: 0, dataDirectory });
  return {
    ...stack,
    stop: async () => {
      await stack.stop();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
};
