import type { Service } from "../../../infra/local/platform.ts";
import type { Proxy } from "./engine-proxy.ts";
import { type DynamoDbProxy, startDynamoDbProxy } from "./dynamodb-proxy.ts";
import { createFaults, FAULT_RATES, type FaultRates, type Faults } from "./faults.ts";
import { startS3FaultsProxy } from "./s3-proxy.ts";
import { startSqsProxy } from "./sqs-proxy.ts";

/** Options of `createAwsTerms`. */
export interface AwsTermsOptions {
  /** The same seed gives the same faults to the same requests. */
  readonly seed: number;
  /** @default FAULT_RATES */
  readonly rates?: FaultRates;
  /** Factor for DynamoDB's limits, so that tests reach them sooner. @default 1 */
  readonly capacityScale?: number;
}

/** Proxies in front of engines. */
export interface AwsTerms {
  /** Starts the proxy in front of an engine. @returns the address that serves as AWS does */
  readonly inFrontOf: (service: Service, engineEndpoint: string) => Promise<string>;
  /** How often each fault has occurred, by service and fault. */
  readonly counts: () => Readonly<Record<string, number>>;
  /** Waits until DynamoDB's indexes show all writes. */
  readonly indexesSettled: () => Promise<void>;
  stop(): Promise<void>;
}

/**
 * Puts proxies between the service and the engines, which are kinder than AWS: they never throttle, conflict, lag,
 * refuse access or lose a response. The proxies do all of this as the documentation of AWS says, by a seed.
 */
export function createAwsTerms({ seed, rates = FAULT_RATES, capacityScale }: AwsTermsOptions): AwsTerms {
  const faults = new Map<Service, Faults>();
  const proxies: Proxy[] = [];
  const dynamodbs: DynamoDbProxy[] = [];

  const start = async (service: Service, engineEndpoint: string, own: Faults): Promise<Proxy> => {
    if (service === "s3") return startS3FaultsProxy(engineEndpoint, own);
    if (service === "sqs") return startSqsProxy(engineEndpoint, own);
    const dynamodb = await startDynamoDbProxy({ engineEndpoint, faults: own, capacityScale });
    dynamodbs.push(dynamodb);
    return dynamodb;
  };
  return {
    inFrontOf: async (service, engineEndpoint) => {
      const own = faults.get(service) ?? createFaults(seed, service, rates);
      faults.set(service, own);
      const proxy = await start(service, engineEndpoint, own);
      proxies.push(proxy);
      return proxy.endpoint;
    },
    counts: () =>
      Object.fromEntries(
        [...faults].flatMap(([service, each]) =>
          Object.entries(each.counts()).map(([name, count]) => [`${service} ${name}`, count]),
        ),
      ),
    indexesSettled: async () => {
      await Promise.all(dynamodbs.map((dynamodb) => dynamodb.indexesSettled()));
    },
    stop: async () => {
      await Promise.all(proxies.map((proxy) => proxy.stop()));
    },
  };
}
