import * as fc from "fast-check";
import { workItemEventId, workItemId } from "../../../lib/identity.ts";
import type { RouteName } from "../../support/handlers.ts";
import type { ApiRequest } from "../../support/organization.ts";
import type { Operation } from "../oracle/item-operations.ts";
import { changes, eventInput, INVALID, itemInput } from "../oracle/inputs.ts";
import type { Call, Oracle } from "../oracle/oracle.ts";
import type { ItemInput } from "../oracle/reference-item.ts";
import { type CallOptions, type Customer, type Response, type Service } from "../world/service.ts";
import type { Hostilities } from "../world/hostilities.ts";
import { NO_RESPONSE } from "../world/world.ts";

/** From this attempt on nothing goes wrong with a call: it must be answered then. */
const CALM_AFTER_ATTEMPTS = 6;
const ATTEMPTS_MAX = 14;
/** How often a caller asks whether its organization is there again. */
const ERASING_POLL_MS = 60_000;

/** Where callers are: in a world with a clock of its own, or beside a service that is killed. */
export interface Place {
  readonly clock: () => number;
  readonly hostilities: Pick<Hostilities, "chosen">;
  readonly random: () => number;
  /** A whole number from 0 to below. */
  below(count: number): number;
  pick<T>(values: readonly T[]): T;
  /** Calls something at a time, in milliseconds since the epoch. */
  at(time: number, call: () => void): void;
  sleep(milliseconds: number): Promise<void>;
  outside<T>(work: () => Promise<T>): Promise<T>;
}

/** A place with its service and what is known of it. */
export interface Scene {
  readonly world: Place;
  readonly service: Pick<Service, "call"> & Partial<Pick<Service, "recordQaScore" | "recordConversation">>;
  readonly oracle: Oracle;
  /** How often a call is made at most. @default 14 times */
  readonly attemptsMax?: number;
}

/** Makes values by a seed, one after the other. */
export function seriesOf<T>(arbitrary: fc.Arbitrary<T>, seed: number): () => T {
  let made: T[] = [];
  let times = 0;
  return () => {
    if (made.length === 0) made = fc.sample(arbitrary, { numRuns: 40, seed: seed + times++ });
    return made.pop()!;
  };
}

/** Whether a response says that the same call is to be repeated. */
const isRefused = ({ status }: Response): boolean => status === 503 || status === 429;

/**
 * Makes a call again and again until it is answered.
 * @param operationsOf what one attempt does to items
 * @param answer is given what the first attempt that was answered says, and returns whether the call is done
 */
export async function untilAnswered(
  { world, oracle, attemptsMax = ATTEMPTS_MAX }: Scene,
  customer: Customer,
  what: string,
  operations: readonly Operation[],
  send: (options: CallOptions) => Promise<Response | typeof NO_RESPONSE>,
  answer: (response: Response, calls: readonly Call[], clock: () => number) => boolean,
): Promise<Response | undefined> {
  const tell = (text: string): void => {
    for (const operation of operations) {
      const { kind, externalId, ...given } = operation;
      const item = oracle.item(organization, externalId);
      oracle.tell(item, `${kind} ${JSON.stringify(given).slice(0, 300)} ${text}`);
    }
  };
  const organization = customer.organization.id;
  const heard: string[] = [];
  while (customer.isErasing) await world.sleep(ERASING_POLL_MS);
  const { erased } = customer;
  for (let attempts = 1; attempts <= attemptsMax; attempts++) {
    let calls: readonly Call[] = [];
    let clock: () => number = world.clock;
    const faults: string[] = [];
    const response = await send({
      isCalm: attempts >= CALM_AFTER_ATTEMPTS,
      onBegin: (own) => {
        clock = own;
        calls = operations.map((operation) => oracle.begin(organization, operation, own));
      },
      onFault: (fault) => faults.push(fault),
      onStop: (kind) => {
        if (kind === "freeze") calls.forEach((call) => oracle.freeze(call));
      },
      onThaw: (isLate) => {
        tell(`continues${isLate ? " too late" : ""}`);
        calls.forEach((call) => (isLate ? oracle.beLate(call) : oracle.thaw(call)));
      },
      // A response is dealt with first, if it comes to the caller.
      onEnd: () =>
        void Promise.resolve().then(() => setImmediate(() => calls.forEach((call) => oracle.end(call, clock)))),
    });
    const said = response === NO_RESPONSE ? "no response" : String(response.status);
    heard.push(`${said} ${response === NO_RESPONSE ? "" : (response.body.error ?? "")}`);
    tell(`→ ${said}${faults.length > 0 ? ` (${faults.join(", ")})` : ""}`);
    // Its caller knows that everything is gone.
    if (customer.isErasing || customer.erased !== erased) return undefined;
    const isTroubled = world.clock() < customer.troubledUntil;
    if (isTroubled && response !== NO_RESPONSE && (response.status === 500 || isRefused(response))) {
      calls.forEach((call) => oracle.end(call, clock));
      attempts -= 1;
      await world.sleep(ERASING_POLL_MS);
      continue;
    }
    if (response !== NO_RESPONSE && !isRefused(response) && answer(response, calls, clock)) return response;
    if (response !== NO_RESPONSE) calls.forEach((call) => oracle.end(call, clock));
    // An instance whose clock was ahead refuses calls for as long as it says.
    const wait =
      response === NO_RESPONSE || response.status !== 429 ? 0 : Number(response.headers["retry-after"]) * 1000;
    await world.sleep(wait + 200 + world.below(1500));
  }
  oracle.report("lost", { "never answered": what, operations, heard });
  return undefined;
}

/** The version in an entity tag. */
const versionIn = ({ headers }: Response): number | undefined => {
  const version = /^"(\d+)/.exec(headers["etag"] ?? "")?.[1];
  return version === undefined ? undefined : Number(version);
};

/** The same JSON, with the members of its objects in the other order. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, inner]) => [name, reversed(inner)] as const);
  return Object.fromEntries(members.toReversed());
};

type Create = Extract<Operation, { readonly kind: "create" }>;

interface BatchResult {
  readonly status: string;
  readonly data: unknown;
}

/** A caller that reads and writes items, some of them together with others. @param pauseMaxMs longest pause between calls */
export function createItemCaller(
  scene: Scene,
  customer: Customer,
  names: readonly string[],
  seed: number,
  pauseMaxMs = 400,
) {
  const { world, service, oracle } = scene;
  const { id: organization } = customer.organization;
  const nextChanges = seriesOf(changes, seed);
  const nextEvent = seriesOf(eventInput, seed + 1);
  const nextInput = seriesOf(itemInput, seed + 2);
  const anyName = (): string => world.pick(names);
  let count = 0;
  /** A name that no item has, or has had. */
  const newName = (): string => `new ${seed} ${count++}`;

  const answerOne = (response: Response, [call]: readonly Call[], clock: () => number): boolean => {
    const { data } = response.body;
    oracle.end(call!, clock, [{ status: response.status, data, version: versionIn(response) }]);
    return true;
  };
  const one = (operation: Operation, route: RouteName, request: ApiRequest): Promise<Response | undefined> =>
    untilAnswered(
      scene,
      customer,
      operation.kind,
      [operation],
      (options) => service.call(customer, route, request, options),
      answerOne,
    );
  const paramsOf = (externalId: string) => ({ id: workItemId(organization, externalId) });
  const ifMatch = (version: number | undefined) =>
    version === undefined ? {} : { headers: { "if-match": `"${version}"` } };
  /** A version for `If-Match`: mostly none, else one that the item may have. */
  const anyVersion = (): { version?: number } => (world.random() < 0.7 ? {} : { version: 1 + world.below(6) });
  /** More events would make too many ways. */
  const withFewEvents = ({ events, ...input }: ItemInput): ItemInput => ({
    ...input,
    ...(events && { events: events.slice(0, world.below(3)) }),
  });

  /** The last create with a key that has made an item. It is repeated at times. */
  let keyed: Create | undefined;
  const newCreate = (): Create => {
    const { external_id: _, ...input } = withFewEvents(nextInput());
    const externalId = world.random() < 0.4 ? newName() : anyName();
    const key = world.random() < 0.5 ? world.pick(["k1", "k2"]) : undefined;
    return { kind: "create", externalId, input, ...(key !== undefined && { key }) };
  };

  const calls = {
    get: async (externalId = anyName()) =>
      one({ kind: "get", externalId }, "getWorkItem", { params: paramsOf(externalId) }),
    create: async () => {
      const operation = keyed !== undefined && world.random() < 0.25 ? keyed : newCreate();
      const { externalId, input, key } = operation;
      const work_item = { external_id: externalId, ...input };
      const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
      const response = await one(operation, "createWorkItem", {
        // Each attempt is made of a map whose order is another each time, as in many languages.
        get body() {
          return { work_item: world.random() < 0.5 ? work_item : reversed(work_item) };
        },
        headers,
      });
      if (key !== undefined && response?.status === 201) keyed = operation;
      return response;
    },
    patch: async () => {
      const operation = { kind: "patch", externalId: anyName(), changes: nextChanges(), ...anyVersion() } as const;
      const { externalId, version } = operation;
      const request = { params: paramsOf(externalId), body: { work_item: operation.changes }, ...ifMatch(version) };
      return one(operation, "updateWorkItem", request);
    },
    remove: async (externalId?: string) => {
      const version = externalId === undefined ? anyVersion() : {};
      const operation = { kind: "delete", externalId: externalId ?? anyName(), ...version } as const;
      const request = { params: paramsOf(operation.externalId), ...ifMatch(operation.version) };
      return one(operation, "deleteWorkItem", request);
    },
    event: async (externalId = anyName(), event = nextEvent()) => {
      const operation = { kind: "event", externalId, event } as const;
      const request = { params: paramsOf(operation.externalId), body: { event: operation.event } };
      return one(operation, "upsertWorkItemEvent", request);
    },
    removeEvent: async () => {
      const externalId = anyName();
      // Mostly one that is there.
      const [state] = oracle.item(organization, externalId).history.states;
      const event = world.pick([...Object.keys(state?.events ?? {}), nextEvent().external_id]);
      const operation = { kind: "delete event", externalId, event } as const;
      const params = paramsOf(externalId);
      const event_id = workItemEventId(params.id, operation.event);
      const response = await one(operation, "deleteWorkItemEvent", { params: { ...params, event_id } });
      return world.random() < 0.5 ? response : calls.event(externalId, { ...nextEvent(), external_id: event });
    },
    score: async () => {
      const operation = { kind: "score", externalId: anyName(), score: world.pick([0, 0.5, null]) } as const;
      const send = async (options: CallOptions): Promise<Response | typeof NO_RESPONSE> => {
        const status = await service.recordQaScore!(customer, operation.externalId, operation.score, options);
        return status === NO_RESPONSE ? status : { status, headers: {}, text: "", body: {} };
      };
      return untilAnswered(scene, customer, "score", [operation], send, answerOne);
    },
    batch: async () => {
      const isDryRun = world.random() < 0.2;
      const inputs = Array.from({ length: 1 + world.below(4) }, () => ({
        ...withFewEvents(nextInput()),
        external_id: anyName(),
      }));
      const isMixed = world.random() < 0.3;
      return apply(inputs, isDryRun, isMixed ? [{ external_id: anyName(), ...world.pick(INVALID) }] : []);
    },
  };

  /** Applies a batch until none of its items has an error but those that are invalid, which come first. */
  const apply = (
    inputs: readonly ItemInput[],
    isDryRun: boolean,
    invalid: readonly object[] = [],
  ): Promise<Response | undefined> => {
    const byItem = [...Map.groupBy(inputs.keys(), (index) => inputs[index]!.external_id)];
    const operations = byItem.map(([externalId, places]): Operation => {
      return { kind: "inputs", externalId, inputs: places.map((place) => inputs[place]!), isDryRun };
    });
    const skips = invalid.length > 0 && { on_invalid: "skip" };
    const body = { work_items: [...invalid, ...inputs], dry_run: isDryRun, ...skips };
    return untilAnswered(
      scene,
      customer,
      isDryRun ? "batch tried" : "batch",
      operations,
      (options) => service.call(customer, "applyWorkItemBatch", { body }, options),
      (response, made, clock) => {
        if (response.status !== 200) {
          oracle.report("wrong", { batch: inputs, response });
          return true;
        }
        const { results: all } = response.body.data as { readonly results: readonly BatchResult[] };
        const results = all.slice(invalid.length);
        if (all.slice(0, invalid.length).some(({ status, data }) => status !== "error" || data !== null)) {
          oracle.report("wrong", { invalid, all });
        }
        for (const [at, [, places]] of byItem.entries()) {
          const own = places.map((place) => results[place]!);
          if (own.some(({ status }) => status === "error")) oracle.end(made[at]!, clock);
          else oracle.end(made[at]!, clock, own);
        }
        return results.every(({ status }) => status !== "error");
      },
    );
  };

  const { get, create, patch, remove, event, removeEvent, score, batch } = calls;
  const scores = service.recordQaScore === undefined ? [] : [score];
  const writes = [create, create, batch, batch, batch, patch, patch, patch, remove, event, event, removeEvent];
  const kinds = [...scores, ...writes, get, get];
  return {
    /** Makes one call after the other. */
    run: async (callsCount: number): Promise<void> => {
      for (let left = callsCount; left > 0; left--) {
        await world.sleep(world.below(pauseMaxMs));
        await world.pick(kinds)();
      }
    },
    get,
    remove,
    apply,
  };
}
