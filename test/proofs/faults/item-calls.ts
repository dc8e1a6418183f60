import * as fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { isoTime } from "../../../lib/clock.ts";
import { workItemId } from "../../../lib/identity.ts";
import { changes, eventInput, filters } from "../model/inputs.ts";
import { applyOperation, isExpected, type Operation, sendOperation } from "../model/operations.ts";
import {
  applyEvent,
  applyFields,
  applyInput,
  type ItemInput,
  type ModelItem,
  showItem,
} from "../model/reference-item.ts";
import { type Expected, type ModelFilters, ReferenceOrganization } from "../model/reference-organization.ts";
import type { ApiRequest } from "../../support/organization.ts";
import type { Caller, ProofResponse, ProofService } from "../proof-service.ts";
import { type FaultyCalls, NO_RESPONSE } from "./faulty-calls.ts";
import type { FindingKind } from "./findings.ts";

/** From this attempt on a call has no faults: what was refused must succeed then. */
const CALM_AFTER_ATTEMPTS = 6;

const EXTERNAL_IDS = ["a", "b", "c", "d", "e", "f", "g", "h"];
const externalId = fc.constantFrom(...EXTERNAL_IDS);
const key = fc.constantFrom("k1", "k2");
const version = fc.integer({ min: 1, max: 6 });
const events = fc.uniqueArray(eventInput, { maxLength: 2, selector: (event) => event.external_id });
const input: fc.Arbitrary<Omit<ItemInput, "external_id">> = fc.record({ fields: changes, events }).map((given) => ({
  ...given.fields,
  ...(given.events.length > 0 && { events: given.events }),
}));

const single: fc.Arbitrary<Operation> = fc.oneof(
  fc.record(
    { kind: fc.constant("create" as const), externalId, input, key },
    { requiredKeys: ["kind", "externalId", "input"] },
  ),
  fc.record(
    { kind: fc.constant("patch" as const), externalId, changes, version },
    { requiredKeys: ["kind", "externalId", "changes"] },
  ),
  fc.record({ kind: fc.constant("delete" as const), externalId, version }, { requiredKeys: ["kind", "externalId"] }),
  fc.record({ kind: fc.constant("event" as const), externalId, event: eventInput }),
  fc.record({ kind: fc.constant("score" as const), externalId, score: fc.constantFrom(0, 0.5, null) }),
  fc.record({ kind: fc.constant("get" as const), externalId }),
);
const batch = fc
  .subarray(EXTERNAL_IDS, { minLength: 1 })
  .chain((ids) => fc.tuple(...ids.map((external_id) => input.map((each): ItemInput => ({ external_id, ...each })))));

/** A call on items: one operation, a batch, or a list of items or of one item's events. */
export type ItemCall =
  | { readonly operation: Operation }
  | { readonly inputs: readonly ItemInput[]; readonly dryRun: boolean }
  | { readonly filters: ModelFilters }
  | { readonly eventsOf: string };
/** Calls that meet at a few items. */
export const itemCalls: fc.Arbitrary<readonly ItemCall[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: single.map((operation) => ({ operation })) },
    { weight: 5, arbitrary: fc.record({ inputs: batch, dryRun: fc.constantFrom(false, false, false, true) }) },
    { weight: 1, arbitrary: fc.record({ filters }) },
    { weight: 1, arbitrary: fc.record({ eventsOf: externalId }) },
  ),
  { minLength: 12, maxLength: 24 },
);

const namesIn = (each: ItemCall): readonly string[] => {
  if ("operation" in each) return [each.operation.externalId];
  return "inputs" in each ? each.inputs.map(({ external_id }) => external_id) : [];
};

type State = ModelItem | undefined;

/** What an input may have done if only a part of it was carried out: the item comes before its events. */
const partsOf = (state: State, given: ItemInput, now: string): readonly State[] => {
  const parts: ModelItem[] = [applyFields(state, given, now).item];
  for (const event of given.events ?? []) {
    parts.push(...parts.map((part) => applyEvent(part, event, now).item));
  }
  return [state, ...parts];
};

const distinct = (states: readonly State[]): State[] => [
  ...new Map(states.map((state) => [JSON.stringify(state) ?? "", state])).values(),
];

interface BatchResult {
  readonly status: string;
  readonly data: unknown;
  readonly error: string | null;
}
const resultsIn = ({ body }: ProofResponse): readonly BatchResult[] =>
  (body as { readonly data?: { readonly results?: readonly BatchResult[] } }).data?.results ?? [];

const isRefused = (response: ProofResponse | typeof NO_RESPONSE): boolean =>
  response === NO_RESPONSE || response.status === 503;

/**
 * Makes the calls of one organization, one after another, each again and again until it is answered, and compares
 * every answer with what can have been done by then. After each call the items must be what the model says.
 */
export const runItemCalls = async (
  service: ProofService,
  caller: Caller,
  faulty: FaultyCalls,
  calls: readonly ItemCall[],
  report: (kind: FindingKind, details: unknown) => void,
): Promise<void> => {
  const { id: organization } = caller.organization;
  /** What each item can be: more than one thing while it is not known which attempts were carried out. */
  const possible = new Map<string, readonly State[]>(EXTERNAL_IDS.map((name) => [name, [undefined]]));
  const statesOf = (name: string): readonly State[] => possible.get(name) ?? [undefined];

  const attemptUntil = async (attempt: (mayFail: boolean, now: string) => Promise<boolean>): Promise<boolean> => {
    for (let attempts = 1; attempts <= 2 * CALM_AFTER_ATTEMPTS; attempts++) {
      service.clock.advance(1000);
      if (await attempt(attempts < CALM_AFTER_ATTEMPTS, isoTime(service.clock()))) return true;
    }
    return false;
  };

  /** A call that only reads. After a check all possible states of an item look the same. */
  const read = (
    request: readonly ["listWorkItems" | "listWorkItemEvents", ApiRequest],
    expect: (model: ReferenceOrganization) => Expected,
  ): Promise<boolean> =>
    attemptUntil(async (mayFail) => {
      const [route, options] = request;
      const response = await faulty.call(() => service.call(route, caller, options), { mayFail });
      if (response === NO_RESPONSE || isRefused(response)) return false;
      const model = new ReferenceOrganization(organization);
      for (const [name, [state]] of possible) if (state) model.items.set(name, state);
      const expected = expect(model);
      const { data } = response.body as { readonly data?: unknown };
      const isRight = response.status === expected.status && isDeepStrictEqual(data, expected.body);
      if (!isRight) report("wrong label", { request, response, expected });
      return true;
    });
  const list = (given: ModelFilters): Promise<boolean> =>
    read(["listWorkItems", { query: { limit: 100, ...given } }], (model) => ({ status: 200, body: model.list(given) }));
  const listEvents = (name: string): Promise<boolean> => {
    const id = workItemId(organization, name);
    return read(["listWorkItemEvents", { params: { id }, query: { limit: 100 } }], (model) => {
      const { status, body } = model.get(id);
      if (status !== 200) return { status };
      const { events: shown } = (body as { readonly data: { readonly events: readonly { id: string }[] } }).data;
      return { status, body: shown.toSorted((a, b) => (a.id < b.id ? -1 : 1)) };
    });
  };

  const callOne = (operation: Operation): Promise<boolean> =>
    attemptUntil(async (mayFail, now) => {
      const response = await faulty.call(() => sendOperation(service, caller, operation), { mayFail });
      const states = statesOf(operation.externalId);
      const after = states.map((state) => applyOperation(organization, state, operation, now));
      if (response === NO_RESPONSE || isRefused(response)) {
        possible.set(operation.externalId, distinct([...states, ...after.map(({ state }) => state)]));
        return false;
      }
      const explained = after.filter(({ expected }) => isExpected(response, expected, false));
      if (explained.length === 0) {
        report("wrong label", { operation, response, expected: after.map(({ expected }) => expected) });
      }
      const remaining = explained.length > 0 ? explained : after;
      possible.set(operation.externalId, distinct(remaining.map(({ state }) => state)));
      return true;
    });

  const callBatch = (inputs: readonly ItemInput[], dryRun: boolean): Promise<boolean> =>
    attemptUntil(async (mayFail, now) => {
      const response = await faulty.call(
        () => service.call("applyWorkItemBatch", caller, { body: { work_items: inputs, dry_run: dryRun } }),
        { mayFail },
      );
      const results = response === NO_RESPONSE ? [] : resultsIn(response);
      if (response !== NO_RESPONSE && response.status !== 200 && response.status !== 503) {
        report("wrong label", { inputs, response });
      }
      for (const [index, each] of inputs.entries()) {
        const result = results[index];
        const states = statesOf(each.external_id);
        if (result === undefined || result.status === "error") {
          if (!dryRun) possible.set(each.external_id, distinct(states.flatMap((state) => partsOf(state, each, now))));
          continue;
        }
        const after = states.map((state) => applyInput(state, each, now));
        const explained = after.filter(({ outcome, item }) => {
          const data = showItem(workItemId(organization, each.external_id), item);
          return outcome === result.status && isDeepStrictEqual(data, result.data);
        });
        if (explained.length === 0) report("wrong label", { input: each, result, possible: after });
        const remaining = explained.length > 0 ? explained : after;
        if (!dryRun) possible.set(each.external_id, distinct(remaining.map(({ item }) => item)));
      }
      return results.length > 0 && results.every(({ status }) => status !== "error");
    });

  /** Compares what is there with what can be there. */
  const check = async (name: string, otherwise: FindingKind): Promise<void> => {
    const operation: Operation = { kind: "get", externalId: name };
    const response = await sendOperation(service, caller, operation);
    const states = statesOf(name);
    const found = states.filter((state) =>
      isExpected(response, applyOperation(organization, state, operation, "").expected, false),
    );
    if (found.length === 0) {
      const actual = Number(/^"(\d+)/.exec(response.headers["etag"] ?? "")?.[1] ?? 0);
      const isWrittenAgain = states.every((state) => actual > (state?.version ?? 0));
      report(isWrittenAgain ? "duplicated" : otherwise, { name, response, possible: states });
    } else possible.set(name, found);
  };

  const make = (each: ItemCall): Promise<boolean> => {
    if ("operation" in each) return callOne(each.operation);
    if ("inputs" in each) return callBatch(each.inputs, each.dryRun);
    return "filters" in each ? list(each.filters) : listEvents(each.eventsOf);
  };
  for (const each of calls) {
    if (!(await make(each))) report("lost", { "never answered": each });
    for (const name of namesIn(each)) await check(name, "lost");
    // Attempts that were frozen continue: they must not undo what was acknowledged since.
    if (await faulty.thaw()) for (const name of EXTERNAL_IDS) await check(name, "undone");
  }
};
