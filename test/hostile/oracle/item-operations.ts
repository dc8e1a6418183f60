import { workItemEventId, workItemId } from "../../../lib/identity.ts";
import {
  applyEvent,
  applyFields,
  applyInput,
  deleteEvent,
  type EventInput,
  type ItemInput,
  type Json,
  type ModelItem,
  type Outcome,
  sameJson,
  showEvent,
  showItem,
  type Time,
} from "./reference-item.ts";

/** An item of the model; undefined if there is none. */
export type State = ModelItem | undefined;

/** The fields of a PATCH. */
type Changes = Omit<ItemInput, "external_id" | "events">;

/** A call on one item, or what a batch or a file does to it. `version` is that of `If-Match`. */
export type Operation = { readonly externalId: string } & (
  | { readonly kind: "create"; readonly input: Omit<ItemInput, "external_id">; readonly key?: string }
  | { readonly kind: "patch"; readonly changes: Changes; readonly version?: number }
  | { readonly kind: "delete"; readonly version?: number }
  | { readonly kind: "get" }
  | { readonly kind: "event"; readonly event: EventInput }
  | { readonly kind: "delete event"; readonly event: string }
  /** An evaluation result, recorded by the internal function. */
  | { readonly kind: "score"; readonly score: number | null }
  /** An operator erases the item and all that belongs to it. */
  | { readonly kind: "erase" }
  /** The inputs of a batch for this item, in order. */
  | { readonly kind: "inputs"; readonly inputs: readonly ItemInput[]; readonly isDryRun: boolean }
  /** The rows of a file for this item, in order. */
  | { readonly kind: "rows"; readonly inputs: readonly ItemInput[] }
);

/** What a response says of an item. The messages of errors are not part of the model. */
export interface Expected {
  /** Of the response, or the outcome of an input. */
  readonly status: number | Outcome;
  readonly data?: unknown;
  /** The version that the `ETag` begins with. */
  readonly version?: number | undefined;
  /** The item that it shows. */
  readonly item?: ModelItem;
}

/** How far an operation has come. */
export interface Progress {
  /** Inputs whose fields are written, or 1 once a call has had its first moment. */
  readonly fields: number;
  /** Places of the inputs' events that are written. */
  readonly events: readonly string[];
  /** What the response will show, by input. */
  readonly shown: readonly Expected[];
  readonly isOver: boolean;
  /** Records that others have changed since its function froze. */
  readonly changed?: readonly string[];
}
export const NOT_BEGUN: Progress = { fields: 0, events: [], shown: [], isOver: false };

/** What can happen next. */
export interface Step {
  readonly state: State;
  readonly progress: Progress;
}

/** The item in a response, with its events in their order. */
const withEvents = (organization: string, status: number, item: ModelItem): Expected => {
  const id = workItemId(organization, item.external_id);
  const events = Object.values(item.events).map((event) => showEvent(workItemEventId(id, event.external_id), event));
  return { status, data: { ...showItem(id, item), events }, version: item.version, item };
};

const isVisible = (state: State): state is ModelItem => state?.deleted === false;

interface Result {
  readonly state: State;
  readonly expected: Expected;
}
const refused = (state: State, status: number): Result => ({ state, expected: { status } });

/** What `If-Match` allows. A version that is not known may be the given one. */
const matching = (item: ModelItem, version: number | undefined, write: (item: ModelItem) => Result): Result[] => {
  if (version === undefined || item.version === version) return [write(item)];
  if (item.version !== undefined) return [refused(item, 412)];
  return [write({ ...item, version }), refused(item, 412)];
};

const create = (organization: string, state: State, input: ItemInput, key: string | undefined, now: Time): Result => {
  const body = JSON.parse(JSON.stringify(input)) as Json;
  if (state === undefined) {
    const { item } = applyInput(undefined, input, now);
    const made: ModelItem = { ...item, ...(key !== undefined && { createKey: { key, body } }) };
    return { state: made, expected: withEvents(organization, 201, made) };
  }
  if (key === undefined || state.createKey?.key !== key) return refused(state, 409);
  if (!sameJson(state.createKey.body, body)) return refused(state, 422);
  return state.deleted ? refused(state, 409) : { state, expected: withEvents(organization, 201, state) };
};

const remove = (organization: string, state: State, version: number | undefined, now: Time): Result[] => {
  if (state === undefined) return [refused(state, 404)];
  const expected = { status: 200, data: { id: workItemId(organization, state.external_id), deleted: true } };
  if (state.deleted) return [{ state, expected }];
  return matching(state, version, (item) => {
    const next = item.version === undefined ? undefined : item.version + 1;
    return { state: { ...item, deleted: true, updated_at: now, version: next }, expected };
  });
};

const score = (state: State, value: number | null, now: Time): Result => {
  if (!isVisible(state)) return refused(state, 404);
  if (state.qa_score === value) return { state, expected: { status: 200 } };
  const version = state.version === undefined ? undefined : state.version + 1;
  return { state: { ...state, qa_score: value, updated_at: now, version }, expected: { status: 200 } };
};

const ended = (results: readonly Result[]): Step[] =>
  results.map(({ state, expected }) => ({
    state,
    progress: { ...NOT_BEGUN, fields: 1, shown: [expected], isOver: true },
  }));

/** The event endpoint looks at the item, and then writes the event. */
const eventSteps = (organization: string, state: State, event: EventInput, progress: Progress, now: Time): Step[] => {
  if (progress.fields === 0) {
    return isVisible(state) ? [{ state, progress: { ...progress, fields: 1 } }] : ended([refused(state, 404)]);
  }
  if (state === undefined) return [];
  const { outcome, item, event: made } = applyEvent(state, event, now);
  const id = workItemEventId(workItemId(organization, state.external_id), event.external_id);
  return ended([{ state: item, expected: { status: outcome === "created" ? 201 : 200, data: showEvent(id, made) } }]);
};

/** The event endpoint's deletion looks at both first, too. */
const deleteEventSteps = (
  organization: string,
  state: State,
  externalId: string,
  progress: Progress,
  now: Time,
): Step[] => {
  const event = state?.events[externalId];
  if (progress.fields === 0 && isVisible(state) && event) return [{ state, progress: { ...progress, fields: 1 } }];
  if (progress.fields === 0 || !state || !event) return ended([refused(state, 404)]);
  const id = workItemEventId(workItemId(organization, state.external_id), externalId);
  return ended([{ state: deleteEvent(state, event, now), expected: { status: 200, data: { id, deleted: true } } }]);
};

/** The events of inputs with the places of their inputs, those of one input and name together, each after others of the same name. */
const eventsOf = (inputs: readonly ItemInput[]) =>
  inputs.flatMap(({ events = [] }, at) =>
    [...Map.groupBy(events, (event) => event.external_id)].map(([name, own]) => {
      const event: EventInput = Object.assign({ external_id: name }, ...own);
      return { at, event, place: `${at} ${name}` };
    }),
  );

const isInputsOver = (inputs: readonly ItemInput[], { fields, events }: Progress): boolean =>
  fields === inputs.length && events.length === eventsOf(inputs).length;

/** Inputs are written before their events: those of a batch all at once, rows one by one or together. */
const inputSteps = (
  organization: string,
  state: State,
  {
    inputs,
    isDryRun,
    isFile,
  }: { readonly inputs: readonly ItemInput[]; readonly isDryRun: boolean; readonly isFile: boolean },
  progress: Progress,
  now: Time,
): Step[] => {
  const steps: Step[] = [];
  const add = (after: State, next: Progress): void => {
    steps.push({ state: isDryRun ? state : after, progress: { ...next, isOver: isInputsOver(inputs, next) } });
  };
  if (progress.fields < inputs.length) {
    let item = state;
    const shown: Expected[] = [];
    for (const input of isFile ? [inputs[progress.fields]!] : inputs) {
      const applied = applyFields(item, input, now);
      item = applied.item;
      shown.push({ status: applied.outcome, data: showItem(workItemId(organization, item.external_id), item) });
    }
    // Rows of one window are written together: how often the item was written is not known.
    const known = state === undefined ? 1 : state.version && state.version + 1;
    const written = item && item !== state ? { ...item, version: isFile ? undefined : known } : item;
    add(written, { ...progress, fields: progress.fields + shown.length, shown: [...progress.shown, ...shown] });
  }
  const all = eventsOf(inputs);
  for (const { at, event, place } of all) {
    const isReady = at < progress.fields && !progress.events.includes(place);
    const isNext = all.every(
      (other) =>
        other.event.external_id !== event.external_id || other.at >= at || progress.events.includes(other.place),
    );
    if (!isReady || !isNext) continue;
    const { outcome, item } = state ? applyEvent(state, event, now) : { outcome: "created", item: state };
    const shown = progress.shown.map((each, index) =>
      index === at && each.status === "unchanged" && outcome !== "unchanged"
        ? { ...each, status: "updated" as const }
        : each,
    );
    add(item, { ...progress, events: [...progress.events, place].toSorted(), shown });
  }
  return steps;
};

/** What an operation can do to an item next. @param now when it happens */
export const stepsOf = (
  organization: string,
  operation: Operation,
  state: State,
  progress: Progress,
  now: Time,
): readonly Step[] => {
  const { externalId } = operation;
  switch (operation.kind) {
    case "create":
      return ended([create(organization, state, { external_id: externalId, ...operation.input }, operation.key, now)]);
    case "patch":
      if (!isVisible(state)) return ended([refused(state, 404)]);
      return ended(
        matching(state, operation.version, (before) => {
          const { item } = applyFields(before, { ...operation.changes, external_id: externalId }, now);
          return { state: item, expected: withEvents(organization, 200, item) };
        }),
      );
    case "delete":
      return ended(remove(organization, state, operation.version, now));
    case "score":
      return ended([score(state, operation.score, now)]);
    case "erase":
      return ended([refused(undefined, state === undefined ? 404 : 200)]);
    case "event":
      return eventSteps(organization, state, operation.event, progress, now);
    case "delete event":
      return deleteEventSteps(organization, state, operation.event, progress, now);
    case "inputs":
      return inputSteps(organization, state, { ...operation, isFile: false }, progress, now);
    case "rows":
      return inputSteps(organization, state, { ...operation, isDryRun: false, isFile: true }, progress, now);
    default:
      return ended([
        isVisible(state) ? { state, expected: withEvents(organization, 200, state) } : refused(state, 404),
      ]);
  }
};
