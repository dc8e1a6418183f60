import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { createOpenApiDocument } from "../../../infra/openapi/document.ts";
import { isObject, type Json } from "../../../infra/openapi/schema-form.ts";

/** The document, in which objects of responses have no other keys than those that this version sends. */
export const closedDocument = JSON.parse(JSON.stringify(createOpenApiDocument({ closed: true }))) as ReturnType<
  typeof createOpenApiDocument
>;

const DOCUMENT = "document";
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
// Its exports are CommonJS: TypeScript and Node disagree on where the function is.
addFormats.default(ajv, { mode: "full" });
ajv.addFormat("binary", true);
ajv.addSchema({ ...closedDocument, $id: DOCUMENT });

const validators = new Map<string, ValidateFunction>();

const pointerOf = (path: readonly string[]): string =>
  path.map((key) => `/${encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"))}`).join("");

/** What a value lacks to be as the document's schema at a path says: one line for each difference. */
export const differencesFrom = (path: readonly string[], value: unknown): string[] => {
  const pointer = pointerOf(path);
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: `${DOCUMENT}#${pointer}` });
  validators.set(pointer, validate);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
};

const at = (path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => {
    if (Array.isArray(value)) return value[Number(key)] as unknown;
    return isObject(value) ? value[key] : undefined;
  }, closedDocument);

/** What is at a path of the document, and where it really is: references are followed. */
export const resolved = (path: readonly string[]): { readonly value: Json; readonly path: readonly string[] } => {
  const value = at(path);
  if (!isObject(value)) return { value: {}, path };
  const reference = value["$ref"];
  return typeof reference === "string" ? resolved(reference.replace(/^#\//, "").split("/")) : { value, path };
};
