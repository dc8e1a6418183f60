import type { Organization } from "../organizations/organization.ts";
import type { Quota } from "../organizations/rate-limit.ts";

/** Name of the limit in both headers. */
const POLICY = '"organization"';

/**
 * The limit of an organization and what is left of it, as draft-ietf-httpapi-ratelimit-headers-10 writes them. The
 * policy is the burst, and the seconds in which the rate makes all of it available again.
 */
export function rateLimitHeaders(
  { rate, burst }: Pick<Organization, "rate" | "burst">,
  { remaining, resetSeconds }: Quota,
) {
  return {
    "ratelimit-policy": `${POLICY};q=${burst};w=${Math.ceil(burst / rate)}`,
    ratelimit: `${POLICY};r=${remaining};t=${resetSeconds}`,
  };
}
