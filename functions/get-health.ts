import { createTableCheck } from "../lib/store/table-check.ts";
import type { ApiHandler } from "../lib/http/chain.ts";
import { publicEndpoint } from "../lib/http/public-endpoint.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { routes } from "./routes.ts";

const route = routes.getHealth;

/** `GET /v1/health` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const checkTable = createTableCheck(runtime);
  const { REGION_CODE: region, VERSION: version } = runtime.environment;
  return publicEndpoint(route, runtime, async () => {
    await checkTable();
    return { body: { status: "ok" as const, region, version } };
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
