import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Variables } from "../../infra/terminal/environment-file.ts";
import { startApi } from "../../apps/local/api-server.ts";
import { openBuckets } from "../../apps/local/engines/provision.ts";
import { openCheckpoints } from "../../apps/local/workers/stream.ts";
import { startWorkers } from "../../apps/local/workers/start-workers.ts";
import { preparePages } from "./pages.ts";
import { resources } from "../../lib/resources.ts";
import { jobKey } from "../../lib/uploads/job/upload-store.ts";
import { createTestOrganization } from "./organization.ts";
import { createTestRuntime, type TestRuntime } from "./runtime.ts";
import { overwrite } from "./customer-data.ts";

/** The service of `npm start` in this process, on the suite's engines, for the organization `demo`. */
export interface TestService {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly runtime: TestRuntime;
  /** Variables that name its tables, bucket and queues. */
  readonly environment: Variables;
  stop(): Promise<void>;
}

/** Starts API, pages and workers on any free port, with tables, bucket and queues of their own. */
export const startTestService = async (): Promise<TestService> => {
  const directory = mkdtempSync(join(tmpdir(), "local-service-"));
  const runtime = await createTestRuntime({ variables: { WEBHOOKS_TO_LOCALHOST: "true" } });
  const { key } = await createTestOrganization(runtime, { id: "demo" });
  const checkpoints = openCheckpoints(join(directory, "stream.json"));
  const [workers, api] = await Promise.all([
    startWorkers({ runtime, checkpoints }),
    startApi({ runtime, allowedOrigins: [], port: 0, preparePages }),
  ]);
  const baseUrl = `http://localhost:${api.port}`;
  const names = Object.values(resources).map(({ variable }) => [variable, runtime.environment[variable]]);
  const engines = Object.entries(process.env).filter(([name]) => name.startsWith("AWS_"));
  const environment = { ...Object.fromEntries([...engines, ...names]), S3_FORCE_PATH_STYLE: "true" } as Variables;
  await openBuckets(environment, [baseUrl, `http://127.0.0.1:${api.port}`]);
  return {
    baseUrl,
    apiKey: key,
    runtime,
    environment,
    stop: async () => {
      await api.stop();
      await workers.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

/** Moves the end of an import into the past, as if it had been then: an undo waits for the import's last workers. */
export const endedDaysAgo = async (
  { runtime }: TestService,
  id: string,
  days: number,
  organization = "demo",
): Promise<void> => {
  const at = new Date(Date.now() - days * 86_400_000).toISOString();
  await overwrite(runtime, "WORK_ITEMS_TABLE", jobKey({ organization, id }), "updated_at", at);
};
