import { isDeepStrictEqual } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { isoTime } from "../../../lib/clock.ts";
import { workItemId } from "../../../lib/identity.ts";
import { randomFrom } from "../../../infra/local/aws-terms/random.ts";
import type { FaultyRun, RequestFault } from "../../support/uploads/fault-injection.ts";
import { type Caller, createProofService, type ProofResponse, type ProofService } from "../proof-service.ts";
import { changes, eventInput } from "./inputs.ts";
import { type Call, findOrder, type Specification } from "./linearizability.ts";
import type { EventInput, ItemInput, ModelItem } from "./reference-item.ts";
import { type Expected, ReferenceOrganization } from "./reference-organization.ts";

const LANES = 8;
const CLIENTS = 4;
const CALLS_EACH = 4;
const EXTERNAL_ID = "shared";

type Changes = Omit<ItemInput, "external_id" | "events">;
/** A call on the one item that all clients share. `version` is that of `If-Match`. */
type Operation =
  | { readonly kind: "create" | "batch"; readonly changes: Changes }
  | { readonly kind: "patch"; readonly changes: Changes; readonly version?: number }
  | { readonly kind: "delete"; readonly version?: number }
  | { readonly kind: "get" }
  | { readonly kind: "event"; readonly event: EventInput };

const version = { version: fc.integer({ min: 1, max: 4 }) };
const writes = {
  create: fc.record({ kind: fc.constant("create" as const), changes }),
  batch: fc.record({ kind: fc.constant("batch" as const), changes }),
  patch: fc.record({ kind: fc.constant("patch" as const), changes, ...version }, { requiredKeys: ["kind", "changes"] }),
  remove: fc.record({ kind: fc.constant("delete" as const), ...version }, { requiredKeys: ["kind"] }),
  event: fc.record({ kind: fc.constant("event" as const), event: eventInput }),
};
const read = fc.record({ kind: fc.constant("get" as const) });
/**
 * Histories with deletions have no events, and the other way round: an event is written after its item was seen, so
 * that both together are no single moment.
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

/** A response to PATCH shows events that were read before the item was written; only its item is of one moment. */
const withoutEvents = (body: unknown): unknown => {
  const { data } = body as { readonly data: Readonly<Record<string, unknown>> };
  return { data: { ...data, events: null } };
};

const specificationFor = (
  organization: string,
  now: string,
): Specification<ModelItem | undefined, Operation, ProofResponse> => {
  const id = workItemId(organization, EXTERNAL_ID);
  const expect = (model: ReferenceOrganization, operation: Operation): Expected => {
    if (operation.kind === "create")
      return model.create({ external_id: EXTERNAL_ID, ...operation.changes }, undefined, now);
    if (operation.kind === "batch")
      return model.batch([{ external_id: EXTERNAL_ID, ...operation.changes }], false, now);
    if (operation.kind === "patch") return model.patch(id, operation.changes, operation.version, now);
    if (operation.kind === "delete") return model.remove(id, operation.version, now);
    return operation.kind === "event" ? model.event(id, operation.event, now) : model.get(id);
  };
  return {
    initial: undefined,
    keyOf: (state) => JSON.stringify(state) ?? "",
    apply: (state, operation) => {
      const model = new ReferenceOrganization(organization);
      if (state) model.items.set(EXTERNAL_ID, state);
      const expected = expect(model, operation);
      return {
        state: model.items.get(EXTERNAL_ID),
        allows: ({ status, body, headers }) => {
          if (status !== expected.status) return false;
          if (expected.body === undefined) return true;
          if (expected.version !== undefined && !headers["etag"]?.startsWith(`"${expected.version}-`)) return false;
          return operation.kind === "patch"
            ? isDeepStrictEqual(withoutEvents(body), withoutEvents(expected.body))
            : isDeepStrictEqual(body, expected.body);
        },
      };
    },
  };
};

const send = (service: ProofService, caller: Caller, operation: Operation): Promise<ProofResponse> => {
  const params = { id: workItemId(caller.organization.id, EXTERNAL_ID) };
  const { version: expected } = operation as { readonly version?: number };
  const headers: Record<string, string> = expected === undefined ? {} : { "if-match": `"${expected}"` };
  switch (operation.kind) {
    case "create":
      return service.call("createWorkItem", caller, {
        body: { work_item: { external_id: EXTERNAL_ID, ...operation.changes } },
      });
    case "batch":
      return service.call("applyWorkItemBatch", caller, {
        body: { work_items: [{ external_id: EXTERNAL_ID, ...operation.changes }] },
      });
    case "patch":
      return service.call("updateWorkItem", caller, { params, headers, body: { work_item: operation.changes } });
    case "delete":
      return service.call("deleteWorkItem", caller, { params, headers });
    case "event":
      return service.call("upsertWorkItemEvent", caller, { params, body: { event: operation.event } });
    default:
      return service.call("getWorkItem", caller, { params });
  }
};

/** Whether a response leaves open if the call was carried out: the service was busy, or the batch's item failed. */
const isUnknown = ({ status, body }: ProofResponse): boolean =>
  status === 503 || (body as { data?: { summary?: { error?: number } } } | undefined)?.data?.summary?.error === 1;

/** Delays requests, so that calls meet in many ways; with faults, some fail before or after they are carried out. */
const disturbance = (service: ProofService, random: () => number, hasFaults: boolean): FaultyRun => ({
  clock: service.clock,
  faultOf: (_command, { TableName }): RequestFault => {
    // A rate limiter whose record is throttled refuses all calls for seconds.
    if (TableName === service.runtime.environment.LIMITS_TABLE) return "none";
    const number = random();
    if (number < 0.5) return "stall before";
    if (!hasFaults || number > 0.65) return "none";
    return (["throttle", "lose response", "deep throttle", "deep lose response"] as const)[
      Math.floor(number * 100) % 4
    ]!;
  },
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
      const response = await service.during(run, () => send(service, caller, operation));
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
