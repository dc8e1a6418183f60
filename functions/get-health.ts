import { createTableCheck } from "../lib/store/table-check.ts";
import { publicEndpoint } from "../lib/http/public-endpoint.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { serviceRoutes } from "./routes/service.ts";

/** `GET /v1/health` */
export const { create, handler } = publicEndpoint(
  serviceRoutes.getHealth,
  { dynamodb: createDynamoDbClient },
  (runtime) => {
    const checkTable = createTableCheck(runtime);
    const { REGION_CODE: region, VERSION: version } = runtime.environment;
    return async () => {
      await checkTable();
      return { body: { status: "ok" as const, region, version } };
    };
  },
);
