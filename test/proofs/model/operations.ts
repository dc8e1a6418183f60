import { isDeepStrictEqual } from "node:util";
import { workItemId } from "../../../lib/identity.ts";
import type { ApiRequest } from "../../support/organization.ts";
import type { Caller, ProofResponse, ProofService } from "../proof-service.ts";
import type { EventInput, ItemInput, ModelItem } from "./reference-item.ts";
import { type Expected, ReferenceOrganization } from "./reference-organization.ts";

/** The fields of a PATCH. */
type Changes = Omit<ItemInput, "external_id" | "events">;

/** A call on one item. `version` is that of `If-Match`. */
export type Operation = { readonly externalId: string } & (
  | { readonly kind: "create"; readonly input: Omit<ItemInput, "external_id">; readonly key?: string }
  | { readonly kind: "batch"; readonly input: Omit<ItemInput, "external_id"> }
  | { readonly kind: "patch"; readonly changes: Changes; readonly version?: number }
  | { readonly kind: "delete"; readonly version?: number }
  | { readonly kind: "get" }
  | { readonly kind: "event"; readonly event: EventInput }
  /** An evaluation result, recorded by the internal function. */
  | { readonly kind: "score"; readonly score: number | null }
);

const expect = (model: ReferenceOrganization, operation: Operation, now: string): Expected => {
  const { externalId } = operation;
  const id = workItemId(model.id, externalId);
  switch (operation.kind) {
    case "create":
      return model.create({ external_id: externalId, ...operation.input }, operation.key, now);
    case "batch":
      return model.batch([{ external_id: externalId, ...operation.input }], false, now);
    case "patch":
      return model.patch(id, operation.changes, operation.version, now);
    case "delete":
      return model.remove(id, operation.version, now);
    case "event":
      return model.event(id, operation.event, now);
    case "score":
      return { status: model.recordQaScore(externalId, operation.score, now) ? 200 : 404 };
    default:
      return model.get(id);
  }
};

/** What an operation does to an item, and the response that it should have. */
export const applyOperation = (
  organization: string,
  state: ModelItem | undefined,
  operation: Operation,
  now: string,
): { readonly state: ModelItem | undefined; readonly expected: Expected } => {
  const model = new ReferenceOrganization(organization);
  if (state) model.items.set(operation.externalId, state);
  const expected = expect(model, operation, now);
  return { state: model.items.get(operation.externalId), expected };
};

const withoutEvents = (body: unknown): unknown => {
  const { data } = body as { readonly data?: Readonly<Record<string, unknown>> };
  return { data: { ...data, events: null } };
};

/**
 * Whether a response is the expected one.
 * @param ignoresEvents PATCH shows events that were read before the item was written, so only its item is of one moment
 */
export const isExpected = (
  { status, body, headers }: ProofResponse,
  expected: Expected,
  ignoresEvents: boolean,
): boolean => {
  if (status !== expected.status) return false;
  if (expected.body === undefined) return true;
  if (expected.version !== undefined && !headers["etag"]?.startsWith(`"${expected.version}-`)) return false;
  return ignoresEvents
    ? isDeepStrictEqual(withoutEvents(body), withoutEvents(expected.body))
    : isDeepStrictEqual(body, expected.body);
};

const requestOf = (
  operation: Exclude<Operation, { kind: "score" }>,
  id: string,
): readonly [Parameters<ProofService["call"]>[0], ApiRequest] => {
  const { externalId: external_id } = operation;
  const params = { id };
  switch (operation.kind) {
    case "create": {
      const headers: Record<string, string> = operation.key === undefined ? {} : { "idempotency-key": operation.key };
      return ["createWorkItem", { headers, body: { work_item: { external_id, ...operation.input } } }];
    }
    case "batch":
      return ["applyWorkItemBatch", { body: { work_items: [{ external_id, ...operation.input }] } }];
    case "patch":
      return ["updateWorkItem", { params, ...ifMatch(operation), body: { work_item: operation.changes } }];
    case "delete":
      return ["deleteWorkItem", { params, ...ifMatch(operation) }];
    case "event":
      return ["upsertWorkItemEvent", { params, body: { event: operation.event } }];
    default:
      return ["getWorkItem", { params }];
  }
};
const ifMatch = ({ version }: { readonly version?: number }): Pick<ApiRequest, "headers"> =>
  version === undefined ? {} : { headers: { "if-match": `"${version}"` } };

/** The result of the internal function as a response: it fails where an endpoint answers 503. */
const sendScore = async (service: ProofService, caller: Caller, externalId: string, score: number | null) => {
  const isRecorded = await service.recordQaScore(caller, externalId, score).catch(() => undefined);
  return { status: isRecorded === undefined ? 503 : isRecorded ? 200 : 404, headers: {}, body: undefined };
};

/** Sends an operation to the service. */
export const sendOperation = (service: ProofService, caller: Caller, operation: Operation): Promise<ProofResponse> => {
  if (operation.kind === "score") return sendScore(service, caller, operation.externalId, operation.score);
  const [route, request] = requestOf(operation, workItemId(caller.organization.id, operation.externalId));
  return service.call(route, caller, request);
};
