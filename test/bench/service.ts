import type { ApiHandler } from "../../lib/http/chain.ts";
import type { Organization } from "../../lib/organizations/organization.ts";
import { createApplyWorkItems } from "../../lib/work-items/apply-work-items.ts";
import { workItemInputSchema } from "../../lib/work-items/work-item.ts";
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

/** Starts the functions of a new deployment. @param limits of the organization; by default too high to be noticed */
export const createBenchService = async (limits = { rate: 100_000, burst: 100_000 }): Promise<BenchService> => {
  const runtime = await createTestRuntime();
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
      let next = 0;
      const write = async (): Promise<void> => {
        while (next < count) {
          const start = next;
          next += ITEMS_AT_ONCE;
          const inputs = Array.from({ length: Math.min(ITEMS_AT_ONCE, count - start) }, (_, index) => ({
            input: workItemInputSchema.parse(itemOf(start + index)),
          }));
          const results = await apply(organization, inputs, { deadline: Date.now() + 20_000 });
          const other = results.find(({ outcome }) => outcome !== "created");
          if (other) throw new Error(`an item was not created: ${JSON.stringify(other)}`);
        }
      };
      await Promise.all(Array.from({ length: WRITERS }, write));
    },
  };
};
