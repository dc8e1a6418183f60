import { rejectUnknownRoute } from "../lib/http/public-endpoint.ts";
import { lambda } from "../lib/aws/runtime.ts";
import { allServed, unknownRoute } from "./routes.ts";

/** Every method and path that isn't served. */
export const { create, handler } = lambda({}, {}, (runtime) =>
  rejectUnknownRoute(unknownRoute.name, allServed(), runtime),
);
