import { endpoint } from "../lib/http/endpoint.ts";
import { serviceRoutes } from "./routes/service.ts";

/** `GET /v1/me` */
export const { create, handler } = endpoint(serviceRoutes.getMe, {}, (runtime) => {
  const { REGION_CODE: region } = runtime.environment;
  return async ({ organization: { id, rate, burst }, keyId, keyName, scopes }) => ({
    body: {
      data: {
        organization: id,
        region,
        key: { id: keyId, name: keyName, scopes: [...scopes] },
        limits: { rate, burst },
      },
    },
  });
});
