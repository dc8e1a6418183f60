import type { JSONSchema } from "zod/v4/core";
import openapi from "../../../docs/openapi.json" with { type: "json" };

/** A JSON Schema of the document. None of them is just true or false. */
export interface Schema extends JSONSchema.BaseSchema {
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly anyOf?: Schema[];
  readonly oneOf?: Schema[];
  readonly "x-extensible-enum"?: readonly unknown[];
}

/** A value in the path, the query or a header of a request. */
interface Parameter {
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

/** An endpoint as the document has it, with its references resolved. */
export interface Operation {
  /** The last part of its page's address, such as `list-work-items`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Present if the endpoint needs no key. */
  readonly security?: readonly unknown[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Partial<Record<"application/json" | "multipart/form-data", Content>>>;
  };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, Content>> }>
  >;
}

/** The part of the document that a reference names; any other value as it is. */
export function resolve<T extends object>(value: T): T {
  const { $ref: reference, ...beside } = value as T & { readonly $ref?: string };
  if (reference === undefined) return value;
  const target = reference
    .slice(2)
    .split("/")
    .reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], openapi);
  return { ...(target as T), ...beside };
}

/** All endpoints, in the document's order. */
export const operations: readonly Operation[] = Object.entries(openapi.paths).flatMap(([path, methods]) =>
  Object.entries<unknown>(methods).map(([method, shown]) => {
    const operation = shown as Omit<Operation, "name" | "method" | "path">;
    return {
      ...operation,
      name: operation.operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      method: method.toUpperCase(),
      path,
      parameters: operation.parameters.map(resolve),
    };
  }),
);

export const tags: readonly { readonly name: string; readonly description: string }[] = openapi.tags;
