import openapi from "../../../docs/openapi.json" with { type: "json" };

/** A JSON Schema of the document. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly "x-extensible-enum"?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

/** A value in the path, the query or a header of a request. */
export interface Parameter {
  readonly in: "path" | "query" | "header";
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: string | number;
}

interface Content {
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Response {
  readonly status: string;
  readonly description: string;
  readonly contentType: string | undefined;
  readonly content: Content | undefined;
}

/** An endpoint as the reference shows it. */
export interface Operation {
  /** The last part of its page's address, such as `list-work-items`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: string;
  readonly isPublic: boolean;
  readonly parameters: readonly Parameter[];
  readonly json: Content | undefined;
  /** The body as a form, if it can be sent as one. */
  readonly form: Content | undefined;
  readonly responses: readonly Response[];
}

/** The part of the document that a reference names, or the value itself if it is none. */
export function resolve<T extends object>(value: T): T {
  const { $ref: reference, ...beside } = value as T & { readonly $ref?: string };
  if (reference === undefined) return value;
  const target = reference
    .slice(2)
    .split("/")
    .reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], openapi);
  return { ...(target as T), ...beside };
}

const METHODS = ["get", "post", "patch", "delete"] as const;

interface DocumentOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, Content>> }>
  >;
}

function operationOf(path: string, method: string, operation: DocumentOperation): Operation {
  return {
    name: operation.operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    method: method.toUpperCase(),
    path,
    summary: operation.summary,
    description: operation.description,
    tag: operation.tags[0]!,
    isPublic: operation.security !== undefined,
    parameters: operation.parameters.map(resolve),
    json: operation.requestBody?.content["application/json"],
    form: operation.requestBody?.content["multipart/form-data"],
    responses: Object.entries(operation.responses).map(([status, reference]) => {
      const { description, content = {} } = resolve(reference);
      const [contentType, body] = Object.entries(content)[0] ?? [];
      return { status, description, contentType, content: body };
    }),
  };
}

/** All endpoints, in the document's order. */
export const operations: readonly Operation[] = Object.entries(openapi.paths).flatMap(([path, methods]) =>
  METHODS.flatMap((method) => {
    const operation = (methods as Partial<Record<string, unknown>>)[method];
    return operation === undefined ? [] : [operationOf(path, method, operation as DocumentOperation)];
  }),
);

/** The groups of endpoints. */
export const tags: readonly { readonly name: string; readonly description: string }[] = openapi.tags;
