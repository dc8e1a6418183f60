import { DAMAGED_RESPONSES } from "../damaged-responses.ts";
import type { Fault } from "../faults.ts";

/** How often attempts have faults, from 0 to 1. */
export interface AttemptRates {
  readonly throttled: number;
  readonly "lost response": number;
  /** One response is damaged. */
  readonly damaged: number;
  /** From here on all responses of the service are damaged alike, for a while. */
  readonly outage: number;
}

/** Attempts that an outage lasts, at most: enough for the SDK's retries and many requests after them. */
const OUTAGE_MAX = 60;

type Service = "dynamodb" | "s3" | "sqs";
const serviceOf = (command: string): Service => {
  if (/Object/.test(command)) return "s3";
  return /Message/.test(command) ? "sqs" : "dynamodb";
};

/** Chooses faults of the attempts of one run. */
export const createAttemptFaults = (random: () => number, rates: AttemptRates): ((command: string) => Fault) => {
  const outages = new Map<Service, { readonly fault: Fault; left: number }>();
  const damageOf = (service: Service): Fault =>
    service === "s3" && random() < 0.1
      ? "wrong checksum"
      : DAMAGED_RESPONSES[Math.floor(random() * DAMAGED_RESPONSES.length)]!;
  return (command) => {
    const service = serviceOf(command);
    const outage = outages.get(service);
    if (outage !== undefined && outage.left-- > 0) return outage.fault;
    let number = random();
    if ((number -= rates.throttled) < 0) return "throttled";
    if ((number -= rates["lost response"]) < 0) return "lost response";
    if ((number -= rates.damaged) < 0) return damageOf(service);
    if ((number -= rates.outage) >= 0) return "none";
    const begun = { fault: damageOf(service), left: Math.floor(random() * OUTAGE_MAX) };
    outages.set(service, begun);
    return begun.fault;
  };
};
