import { hash } from "node:crypto";
import { isJsonObject, type JsonObject } from "./json.ts";

/** A text, or a value that isn't written yet. */
type Part = string | { readonly value: unknown };

function partsOf(value: unknown): Part[] {
  if (Array.isArray(value)) return ["[", ...value.flatMap((each: unknown): Part[] => [{ value: each }, ","]), "]"];
  if (!isJsonObject(value)) return [JSON.stringify(value)];
  const names = Object.keys(value).filter((name) => (value as Partial<JsonObject>)[name] !== undefined);
  const members = names.toSorted().flatMap((name): Part[] => [`${JSON.stringify(name)}:`, { value: value[name] }, ","]);
  return ["{", ...members, "}"];
}

/**
 * The hash of a JSON value, by which a request with an `Idempotency-Key` is recognized. What `jsonEquals` takes for equal
 * has the same hash: the order of an object's members doesn't count, at any depth; the order of arrays does, and so does
 * each digit of a number. Members that are undefined are left out. Without recursion, so that no value is too deep.
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
