import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { isoTime } from "../../../lib/clock.ts";
import { randomFrom } from "../../support/random.ts";
import type { FaultyRun, RequestFault } from "../../support/uploads/fault-injection.ts";
import { createAttemptFaults } from "../../support/uploads/random-faults.ts";
import { createProofService, type ProofResponse, type ProofService } from "../proof-service.ts";
import { changes, eventInput } from "./inputs.ts";
import { type Call, findOrder, type Specification } from "./linearizability.ts";
import { applyOperation, isExpected, type Operation, sendOperation } from "./operations.ts";
import type { ModelItem } from "./reference-item.ts";

const LANES = 8;
const CLIENTS = 4;
const CALLS_EACH = 4;

const shared = { externalId: fc.constant("shared") };
const version = { version: fc.integer({ min: 1, max: 4 }) };
const writes = {
  create: fc.record({ kind: fc.constant("create" as const), ...shared, input: changes }),
  batch: fc.record({ kind: fc.constant("batch" as const), ...shared, input: changes }),
  patch: fc.record(
    { kind: fc.constant("patch" as const), ...shared, changes, ...version },
    { requiredKeys: ["kind", "externalId", "changes"] },
  ),
  remove: fc.record(
    { kind: fc.constant("delete" as const), ...shared, ...version },
    { requiredKeys: ["kind", "externalId"] },
  ),
  event: fc.record({ kind: fc.constant("event" as const), ...shared, event: eventInput }),
};
const read = fc.record({ kind: fc.constant("get" as const), ...shared });
/**
 * Histories with deletions have no events, and the other way round: an event is written after its item was seen, so
 * that both together aren't a single moment.
 */
const operations: fc.Arbitrary<readonly (readonly Operation[])[]> = fc
  .constantFrom<fc.Arbitrary<Operation>>(
    fc.oneof(writes.create, writes.batch, writes.patch, writes.remove, read),
    fc.oneof(writes.batch, writes.patch, writes.event, read),
  )
  .chain((each) => {
    const calls = fc.array(each, { minLength: CALLS_EACH, maxLength: CALLS_EACH });
    return fc.array(calls, { minLength: CLIENTS, maxLength: CLIENTS });
  });

const specificationFor = (
  organization: string,
  now: string,
): Specification<ModelItem | undefined, Operation, ProofResponse> => ({
  initial: undefined,
  keyOf: (state) => JSON.stringify(state) ?? "",
  apply: (before, operation) => {
    const { state, expected } = applyOperation(organization, before, operation, now);
    return { state, allows: (response) => isExpected(response, expected, operation.kind === "patch") };
  },
});

/** Whether a response leaves open if the call was carried out: the service was busy, or the batch's item failed. */
const isUnknown = ({ status, body }: ProofResponse): boolean =>
  status === 503 || (body as { data?: { summary?: { error?: number } } } | undefined)?.data?.summary?.error === 1;

const ATTEMPT_RATES = { throttled: 0.03, "lost response": 0.03, damaged: 0.04, outage: 0 } as const;

const faultsOfAttempts = (service: ProofService, random: () => number): NonNullable<FaultyRun["attemptFault"]> => {
  const choose = createAttemptFaults(random, ATTEMPT_RATES);
  return (command, { TableName }) =>
    TableName === service.runtime.environment.LIMITS_TABLE ? "none" : choose(command);
};

/** Delays requests, so that calls meet in many ways; with faults, some fail before or after they are carried out. */
const disturbance = (service: ProofService, random: () => number, hasFaults: boolean): FaultyRun => ({
  clock: service.clock,
  faultOf: (_command, { TableName }): RequestFault => {
    // A rate limiter whose record is throttled refuses all calls for seconds.
    if (TableName === service.runtime.environment.LIMITS_TABLE) return "none";
    const number = random();
    if (number < 0.5) return "stall before";
    if (!hasFaults || number > 0.65) return "none";
    return number < 0.57 ? "throttle" : "lose response";
  },
  ...(hasFaults && { attemptFault: faultsOfAttempts(service, random) }),
  statementFault: () => "none",
  stop: () => sleep(random() * 4),
  onMessages: () => undefined,
});

const runHistory = async (service: ProofService, clients: readonly (readonly Operation[])[], seed: number) => {
  const caller = await service.createOrganization();
  const random = randomFrom(seed);
  const run = disturbance(service, random, seed % 2 === 1);
  const history: Call<Operation, ProofResponse>[] = [];
  let moment = 0;
  const runClient = async (calls: readonly Operation[]): Promise<void> => {
    for (const operation of calls) {
      const calledAt = moment++;
      const response = await service.during(run, () => sendOperation(service, caller, operation));
      history.push({ operation, calledAt, returned: isUnknown(response) ? undefined : { at: moment++, response } });
    }
  };
  await Promise.all(clients.map(runClient));
  return { history, specification: specificationFor(caller.organization.id, isoTime(service.clock())) };
};

/** Runs calls of four clients on one item at the same time. @throws Error with a history that no order explains */
export const runHistories = async (count: number, seed: number): Promise<{ histories: number; unknown: number }> => {
  let histories = 0;
  let unknown = 0;
  const runLane = async (lane: number): Promise<void> => {
    const service = await createProofService();
    const share = Math.ceil(count / LANES);
    for (const [index, clients] of fc.sample(operations, { numRuns: share, seed: seed + lane }).entries()) {
      service.clock.advance(10_000);
      const { history, specification } = await runHistory(service, clients, seed + lane * share + index);
      if (findOrder(specification, history) === undefined) {
        throw new Error(`no order explains this history: ${JSON.stringify(history, undefined, 1)}`);
      }
      histories += 1;
      unknown += history.filter(({ returned }) => returned === undefined).length;
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, lane) => runLane(lane)));
  return { histories, unknown };
};
