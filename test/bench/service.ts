import type { ApiHandler } from "../../lib/http/middleware.ts";
import type { Organization } from "../../lib/organizations/organization.ts";
import { createApplyWorkItems } from "../../lib/work-items/apply-work-items.ts";
import { workItemInputSchema } from "../../lib/work-items/work-item.ts";
import { mapConcurrently } from "../../lib/retry.ts";
import { startEngines } from "../support/engines.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { apiEvent, type ApiRequest, createTestOrganization } from "../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";

/** The functions in this process, each as one warm instance, and an organization that calls them. */
export interface BenchService {
  readonly runtime: TestRuntime;
  readonly organization: Organization;
  readonly key: string;
  /** Makes a call; its event is made beforehand, so that only the function's work is measured. */
  readonly prepare: (handler: ApiHandler, request: ApiRequest) => () => Promise<string>;
  /** Creates so many items, as a file of rows does. @throws Error if one is not created */
  readonly fill: (count: number, itemOf: (index: number) => object) => Promise<void>;
}

const ITEMS_AT_ONCE = 100;
const WRITERS = 4;

interface BenchOptions {
  /** By default too high to be noticed. */
  readonly limits?: { readonly rate: number; readonly burst: number };
  readonly clock?: () => number;
}

/** Starts the functions of a new deployment. */
export const createBenchService = async (options: BenchOptions = {}): Promise<BenchService> => {
  const { limits = { rate: 100_000, burst: 100_000 }, clock = Date.now } = options;
  const runtime = await createTestRuntime({ clock });
  const { organization, key } = await createTestOrganization(runtime, limits);
  const apply = createApplyWorkItems(runtime);
  return {
    runtime,
    organization,
    key,
    prepare: (handler, request) => {
      const event = apiEvent({ ...request, key });
      return async () => {
        const { statusCode, body } = await handler({ ...event }, lambdaContext());
        if (statusCode >= 400) throw new Error(`${request.resource} responded with ${statusCode}: ${body}`);
        return body;
      };
    },
    fill: async (count, itemOf) => {
      const starts = Array.from({ length: Math.ceil(count / ITEMS_AT_ONCE) }, (_, index) => index * ITEMS_AT_ONCE);
      await mapConcurrently(starts, WRITERS, async (start) => {
        const inputs = Array.from({ length: Math.min(ITEMS_AT_ONCE, count - start) }, (_, index) => ({
          input: workItemInputSchema.parse(itemOf(start + index)),
        }));
        const results = await apply(organization, inputs, { deadline: Date.now() + 20_000 });
        const other = results.find(({ outcome }) => outcome !== "created");
        if (other) throw new Error(`an item was not created: ${JSON.stringify(other)}`);
      });
    },
  };
};

/** Starts separate engines and stops them when `run` ends. */
export const withEngines = async <T>(run: () => Promise<T>): Promise<T> => {
  const stop = await startEngines();
  try {
    return await run();
  } finally {
    await stop();
  }
};
