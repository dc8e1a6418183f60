import type { OpenApiDocument } from "./document.ts";
import { createSchemaComparison, type Resolve } from "./schema-changes.ts";
import { isObject, type Json } from "./schema-form.ts";

const objectAt = (value: unknown, key: string): Json => {
  const inner = isObject(value) ? value[key] : undefined;
  return isObject(inner) ? inner : {};
};

/** Resolves references of a document, such as `#/components/schemas/WorkItem`. */
const resolverOf = (document: OpenApiDocument): Resolve => {
  const resolve: Resolve = (value) => {
    if (!isObject(value)) return {};
    const { $ref: reference, ...beside } = value;
    if (typeof reference !== "string") return value;
    const target = reference
      .replace(/^#\//, "")
      .split("/")
      .reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), document);
    return { ...resolve(target), ...beside };
  };
  return resolve;
};

/** The parameters of an operation by place and name, such as `query limit`. */
const parametersOf = (operation: Json, resolve: Resolve): Map<string, Json> => {
  const parameters = Array.isArray(operation["parameters"]) ? operation["parameters"].map(resolve) : [];
  return new Map(parameters.map((parameter) => [`${String(parameter["in"])} ${String(parameter["name"])}`, parameter]));
};

const missingFrom = (after: Json, before: Json): string[] =>
  Object.keys(before).filter((key) => !Object.hasOwn(after, key));

/**
 * What a new document breaks for callers that follow the old one: operations, parameters, statuses, media types, headers
 * and fields that are gone, inputs that are required now or take less, and outputs that are wider.
 * @returns one line for each change; none if there are only additions
 */
export const breakingChanges = (before: OpenApiDocument, after: OpenApiDocument): string[] => {
  const [resolveOld, resolveNew] = [resolverOf(before), resolverOf(after)];
  const requests = createSchemaComparison("request", resolveOld, resolveNew);
  const responses = createSchemaComparison("response", resolveOld, resolveNew);

  const compareContents = (old: Json, now: Json, place: string, compare: typeof requests): string[] =>
    Object.entries(old).flatMap(([type, content]) =>
      Object.hasOwn(now, type)
        ? compare(objectAt(content, "schema"), objectAt(now[type], "schema"), `${place} ${type}`)
        : [`${place} ${type}: is removed`],
    );

  const compareParameters = (old: Json, now: Json, place: string): string[] => {
    const [oldOnes, newOnes] = [parametersOf(old, resolveOld), parametersOf(now, resolveNew)];
    return [
      ...[...oldOnes].flatMap(([name, parameter]) => {
        const same = newOnes.get(name);
        if (same === undefined) return [`${place} ${name}: is removed`];
        const isRequired = same["required"] === true && parameter["required"] !== true;
        return [
          ...(isRequired ? [`${place} ${name}: is required now`] : []),
          ...requests(parameter["schema"], same["schema"], `${place} ${name}`),
        ];
      }),
      ...[...newOnes].flatMap(([name, { required }]) =>
        required === true && !oldOnes.has(name) ? [`${place} ${name}: is required now`] : [],
      ),
    ];
  };

  const compareBodies = (old: Json, now: Json, place: string): string[] => {
    const [oldBody, newBody] = [objectAt(old, "requestBody"), objectAt(now, "requestBody")];
    return [
      ...(newBody["required"] === true && oldBody["required"] !== true ? [`${place} body: is required now`] : []),
      ...compareContents(objectAt(oldBody, "content"), objectAt(newBody, "content"), `${place} body`, requests),
    ];
  };

  const compareResponses = (old: Json, now: Json, place: string): string[] =>
    Object.entries(objectAt(old, "responses")).flatMap(([status, response]) => {
      const same = objectAt(now, "responses")[status];
      if (same === undefined) return [`${place} ${status}: is removed`];
      const [oldOne, newOne] = [resolveOld(response), resolveNew(same)];
      return [
        ...missingFrom(objectAt(newOne, "headers"), objectAt(oldOne, "headers")).map(
          (header) => `${place} ${status} header ${header}: is removed`,
        ),
        ...compareContents(objectAt(oldOne, "content"), objectAt(newOne, "content"), `${place} ${status}`, responses),
      ];
    });

  return Object.entries(before.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, old]) => {
      const place = `${method.toUpperCase()} ${path}`;
      const now = after.paths[path]?.[method];
      if (now === undefined) return [`${place}: is removed`];
      return [
        ...(old["operationId"] === now["operationId"] ? [] : [`${place}: its operationId changed`]),
        ...compareParameters(old, now, place),
        ...compareBodies(old, now, place),
        ...compareResponses(old, now, place),
      ];
    }),
  );
};
