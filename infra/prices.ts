/** List prices in dollars, July 2025, without free tiers; those of us-east-1 and eu-west-1 are the same. */
export const PRICES = {
  alarmMetric: 0.1,
  customMetric: 0.3,
  dashboard: 3,
  key: 1,
  webAcl: 5,
  webAclRule: 1,
  apiRequest: 3.5 / 1e6,
  invocation: 0.2 / 1e6,
  gigabyteSecond: 0.0000133334,
  queueRequest: 0.4 / 1e6,
  fifoQueueRequest: 0.5 / 1e6,
  objectWrite: 5 / 1e6,
  objectRead: 0.4 / 1e6,
} as const;

/** Prices of DynamoDB's units, which differ by region. */
export const UNIT_PRICES = {
  "us-east-1": { write: 0.625 / 1e6, read: 0.125 / 1e6 },
  "eu-west-1": { write: 0.70675 / 1e6, read: 0.1415 / 1e6 },
} as const satisfies Record<string, { readonly write: number; readonly read: number }>;
