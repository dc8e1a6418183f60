import { hash } from "node:crypto";
import { isJsonObject, type JsonObject } from "./json.ts";

/** A text, or a value that is yet to be written. */
type Part = string | { readonly value: unknown };

function partsOf(value: unknown): Part[] {
  if (Array.isArray(value))
    return ["[", ...value.flatMap((element: unknown): Part[] => [{ value: element }, ","]), "]"];
  if (!isJsonObject(value)) return [JSON.stringify(value)];
  const names = Object.keys(value).filter((name) => (value as Partial<JsonObject>)[name] !== undefined);
  const members = names.toSorted().flatMap((name): Part[] => [`${JSON.stringify(name)}:`, { value: value[name] }, ","]);
  return ["{", ...members, "}"];
}

/**
 * The hash of a JSON value, by which a request with an `Idempotency-Key` is recognized. Values that `jsonEquals` considers
 * equal have the same hash: the order of an object's members doesn't matter, but the order of arrays and every digit of a
 * number do. Undefined members are left out. Without recursion, so that no value is too deep.
 */
export function contentHash(content: unknown): string {
  let text = "";
  const left: Part[] = [{ value: content }];
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    if (typeof part === "string") text += part;
    else for (const inner of partsOf(part.value).toReversed()) left.push(inner);
  }
  return hash("sha256", text, "base64url");
}
