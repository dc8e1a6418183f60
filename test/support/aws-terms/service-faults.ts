import { damageOf, frontEndResponse } from "./damage.ts";
import type { Faults } from "./faults.ts";
import { type JsonHandler, jsonError, type JsonRequest, type JsonResponse } from "./json-proxy.ts";

/** Errors that all AWS services have: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/CommonErrors.html. */
const EXPIRED = jsonError(400, "ExpiredTokenException", "The security token included in the request is expired");
const DENIED = jsonError(400, "AccessDeniedException", "User is not authorized to perform this action");
/** 500 says nothing about whether a write was carried out. */
const SERVER_FAULT = jsonError(500, "InternalServerError", "The request processing has failed");

/** Adds the faults of any service to a handler: some before the request is carried out, some after it. */
export function withServiceFaults(
  faults: Faults,
  throttled: () => JsonResponse,
  handle: (request: JsonRequest) => Promise<JsonResponse>,
): JsonHandler {
  return async (request) => {
    if (faults.occurs("expired")) return EXPIRED;
    if (faults.occurs("denied")) return DENIED;
    if (faults.occurs("throttled")) return throttled();
    if (faults.occurs("server fault")) return SERVER_FAULT;
    const foreign = frontEndResponse(faults, "before");
    if (foreign !== undefined) return { response: SERVER_FAULT, damage: () => foreign };
    const response = await handle(request);
    if (response.status === 200 && faults.occurs("server fault after")) return SERVER_FAULT;
    if (faults.occurs("lost response")) return "no response";
    const damage = damageOf(faults);
    return damage === undefined ? response : { response, damage };
  };
}
