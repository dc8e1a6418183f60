import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { routes } from "./routes.ts";

const route = routes.getMe;

/** `GET /v1/me` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const { REGION_CODE: region } = runtime.environment;
  return endpoint(route, runtime, async ({ organization: { id, rate, burst }, keyId, keyName, scopes }) => ({
    body: {
      data: {
        organization: id,
        region,
        key: { id: keyId, name: keyName, scopes: [...scopes] },
        limits: { rate, burst },
      },
    },
  }));
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
