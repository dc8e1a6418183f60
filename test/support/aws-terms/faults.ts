import { crc32 } from "node:zlib";
import { randomFrom } from "../random.ts";

/** How often each fault occurs: the part of the requests, statements or messages that it can befall, from 0 to 1. */
export const FAULT_RATES = {
  /** The request is refused because there are too many, whatever was used of the capacity. */
  throttled: 0.01,
  /** The service fails before it does anything: 500. */
  "server fault": 0.005,
  /** The service fails after it has carried the request out: 500. */
  "server fault after": 0.005,
  /** The request is carried out, but the connection ends without a response. */
  "lost response": 0.005,
  /** A front end answers in HTML, with any status, and the request is not carried out. */
  html: 0.002,
  /** The same after the request was carried out. */
  "html after": 0.002,
  /** A front end answers without a body, with any status, and the request is not carried out. */
  empty: 0.001,
  /** The same after the request was carried out. */
  "empty after": 0.001,
  /** The request is carried out, but its response ends too early. */
  truncated: 0.002,
  /** The request is carried out, but the connection breaks inside its response. */
  cut: 0.002,
  /** S3: a byte of an object changes on its way, or the checksum in the response to a write is another one. */
  "wrong checksum": 0.001,
  /** The credentials have just expired. */
  expired: 0.001,
  /** The role is not allowed to do it at the moment, as after a change of its policy. */
  denied: 0.001,
  /** DynamoDB: another transaction is writing to the item. */
  conflict: 0.01,
  /** DynamoDB: a key of a BatchGetItem is left for another request. */
  unprocessed: 0.01,
  /** DynamoDB: one statement of a batch is throttled. */
  "statement throttled": 0.02,
  /** SQS: an entry of a batch fails alone. */
  "entry failed": 0.01,
  /** SQS: a message is received again while it is still worked on. */
  duplicate: 0.05,
  /** SQS: a message becomes visible some seconds after it was sent. */
  late: 0.2,
} as const;

/** Name of a fault. */
export type FaultName = keyof typeof FAULT_RATES;
/** Rates by fault; those that are not given are 0. */
export type FaultRates = Readonly<Partial<Record<FaultName, number>>>;

/** Decides by a seed which faults occur. Every kind has its own random numbers: no kind changes when another occurs. */
export interface Faults {
  /** Whether the fault occurs now. */
  readonly occurs: (name: FaultName) => boolean;
  /** A whole number from 0 to below the limit, for waits and choices. */
  readonly below: (limit: number) => number;
  /** How often each fault has occurred. */
  readonly counts: () => Readonly<Record<string, number>>;
  /** Counts a fault that occurred because of the state of the service, such as a used-up capacity. */
  readonly count: (name: string) => void;
}

/** @param service faults of different services are independent of each other */
export function createFaults(seed: number, service: string, rates: FaultRates = FAULT_RATES): Faults {
  const streams = new Map<string, () => number>();
  const next = (name: string): number => {
    const stream = streams.get(name) ?? randomFrom(seed ^ crc32(`${service} ${name}`));
    streams.set(name, stream);
    return stream();
  };
  const counts: Record<string, number> = {};
  const count = (name: string): void => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  return {
    occurs: (name) => {
      const happens = next(name) < (rates[name] ?? 0);
      if (happens) count(name);
      return happens;
    },
    below: (limit) => Math.floor(next("below") * limit),
    counts: () => counts,
    count,
  };
}
