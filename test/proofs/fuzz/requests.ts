import * as fc from "fast-check";
import { routes } from "../../../functions/routes.ts";
import type { Route } from "../../../lib/http/route.ts";
import { isObject } from "../../../infra/openapi/schema-form.ts";
import { resolved } from "../../support/openapi/document-schemas.ts";
import type { RouteName } from "../../support/handlers.ts";
import { readableFile } from "./files.ts";
import { valuesOf } from "./schema-values.ts";

/** A part of a form. */
export interface FormPart {
  readonly name: string;
  readonly filename?: string;
  readonly content: string | Buffer;
}

/** The body of a request before it is made bytes. */
type BodyInput =
  | { readonly kind: "none" }
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "form"; readonly parts: readonly FormPart[] };

/** Which of the things that responses have named so far a request is about. */
export interface Reference {
  readonly index: number;
}

/** A request as the document describes it. */
export interface DescribedRequest {
  readonly name: RouteName;
  readonly isHead: boolean;
  readonly id: Reference | undefined;
  /** The parameter in which `meta.page.next` of a response is sent; undefined if none is. */
  readonly follows: string | undefined;
  /** Whether the entity tag of a response is sent where the endpoint reads one. */
  readonly knowsTag: boolean;
  readonly wantsProblem: boolean;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: BodyInput;
}

const reference: fc.Arbitrary<Reference> = fc.record({ index: fc.nat({ max: 1000 }) });

const parametersOf = (path: readonly string[], place: string) => {
  const { value } = resolved(path);
  const parameters = Array.isArray(value["parameters"]) ? (value["parameters"] as unknown[]) : [];
  return parameters
    .map((_, index) => resolved([...path, "parameters", String(index)]))
    .filter(({ value: parameter }) => parameter["in"] === place);
};

/** Parameters whose values only a response can give. */
const PLACES: readonly unknown[] = ["cursor", "after"];

const queryOf = (path: readonly string[]): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .record(
      Object.fromEntries(
        parametersOf(path, "query")
          .filter(({ value }) => !PLACES.includes(value["name"]))
          .map((parameter) => [String(parameter.value["name"]), valuesOf([...parameter.path, "schema"])]),
      ),
      { requiredKeys: [] },
    )
    // Most lists are asked for with few filters.
    .chain((query) => fc.shuffledSubarray(Object.keys(query)).map((names) => pick(query, names.slice(0, 2))));

const pick = (values: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, values[name]]));

const idempotencyKey = fc.constantFrom("key-1", "key-2", "~ !\"#'");
const headersOf = (path: readonly string[]): fc.Arbitrary<Record<string, string>> =>
  parametersOf(path, "header").some(({ value }) => value["name"] === "Idempotency-Key")
    ? fc
        .option(idempotencyKey, { nil: undefined, freq: 3 })
        .map((key): Record<string, string> => (key ? { "Idempotency-Key": key } : {}))
    : fc.constant({});

const formPart = (name: string, value: unknown): FormPart => ({
  name,
  content: typeof value === "string" ? value : JSON.stringify(value),
});

/** Forms with a file that can be read, and half of them with the other fields. */
const formsOf = (path: readonly string[]): fc.Arbitrary<BodyInput> =>
  fc
    .record({ fields: valuesOf([...path, "schema"]), file: readableFile, isPlain: fc.constantFrom(true, true, false) })
    .map(({ fields, file, isPlain }): BodyInput => {
      const others = isPlain || !isObject(fields) ? [] : Object.entries(fields);
      const filePart: FormPart = { name: "upload[file]", filename: "items.csv", content: file };
      return {
        kind: "form",
        parts: [
          ...others.flatMap(([name, value]) => (name === filePart.name ? [] : [formPart(name, value)])),
          filePart,
        ],
      };
    });

const bodiesOf = (path: readonly string[]): fc.Arbitrary<BodyInput> => {
  const { value: contents } = resolved([...path, "requestBody", "content"]);
  const kinds = Object.keys(contents).map((type) => {
    const content = [...path, "requestBody", "content", type];
    return type === "application/json"
      ? valuesOf([...content, "schema"]).map((value): BodyInput => ({ kind: "json", value }))
      : formsOf(content);
  });
  return kinds.length === 0 ? fc.constant<BodyInput>({ kind: "none" }) : fc.oneof(...kinds);
};

/** Requests to one endpoint, as the document describes them. */
const requestsTo = (name: RouteName): fc.Arbitrary<DescribedRequest> => {
  const route: Route = routes[name];
  const path = ["paths", route.path, route.method.toLowerCase()];
  const place = parametersOf(path, "query").find(({ value }) => PLACES.includes(value["name"]))?.value["name"];
  return fc.record({
    name: fc.constant(name),
    isHead:
      route.method === "GET" ? fc.boolean().map((value) => value && name !== "getOpenapiDocument") : fc.constant(false),
    id: route.path.includes("{id}") ? reference : fc.constant(undefined),
    follows: fc.constantFrom(undefined, typeof place === "string" ? place : undefined),
    knowsTag: fc.boolean(),
    wantsProblem: fc.boolean(),
    query: queryOf(path),
    headers: headersOf(path),
    body: bodiesOf(path),
  });
};

/** How often each endpoint is called, in relation to the others. */
const WEIGHTS: Partial<Record<RouteName, number>> = {
  applyWorkItemBatch: 6,
  createWorkItem: 6,
  updateWorkItem: 6,
  upsertWorkItemEvent: 4,
  uploadWorkItems: 8,
  listWorkItems: 4,
  getHealth: 1,
  getOpenapiDocument: 1,
};

/** Requests to all endpoints. */
export const describedRequest: fc.Arbitrary<DescribedRequest> = fc.oneof(
  ...(Object.keys(routes) as RouteName[]).map((name) => ({ weight: WEIGHTS[name] ?? 2, arbitrary: requestsTo(name) })),
);
