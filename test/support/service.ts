import { createCaller } from "./caller.ts";
import { createTestOrganization } from "./organization.ts";
import { createTestRuntime } from "./runtime.ts";

/** Makes a service on new tables, and one organization that calls it. */
export const createTestService = async (options: Parameters<typeof createTestRuntime>[0] = {}) => {
  const runtime = await createTestRuntime(options);
  const { organization, key } = await createTestOrganization(runtime);
  return { runtime, organization, key, call: createCaller(runtime, key) };
};
