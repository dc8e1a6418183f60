import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { convertToAttr, convertToNative, type NativeAttributeValue } from "@aws-sdk/util-dynamodb";

/** Attributes by name, as the document client reads and writes them. */
export type Attributes = Readonly<Record<string, unknown>>;

/** An item as DynamoDB sends it: each value with its type. */
export type AttributeValues = Record<string, AttributeValue>;

/**
 * A value with its type. Nearly all attributes are texts and integers. Only for others is the slower conversion of the
 * document client used, which looks for sets, buffers and nested values.
 * @throws Error if DynamoDB has no type for the value
 */
export function toAttributeValue(value: unknown): AttributeValue {
  if (typeof value === "string") return { S: value };
  if (Number.isSafeInteger(value)) return { N: String(value) };
  return convertToAttr(value as NativeAttributeValue, { removeUndefinedValues: true });
}

/** Values by name, each with its type. @throws Error if DynamoDB has no type for a value */
export function toAttributeValues(attributes: Attributes): AttributeValues {
  return Object.fromEntries(Object.keys(attributes).map((name) => [name, toAttributeValue(attributes[name])]));
}

function fromAttributeValue(value: AttributeValue): unknown {
  if (value.S !== undefined) return value.S;
  const integer = value.N === undefined ? Number.NaN : Number(value.N);
  return Number.isSafeInteger(integer) ? integer : convertToNative(value);
}

/** Removes the types from an item's values, in place. Integers above 2^53 become BigInts. */
export function fromAttributeValues(item: AttributeValues): Attributes {
  const attributes: Record<string, unknown> = item;
  for (const name of Object.keys(item)) attributes[name] = fromAttributeValue(item[name]!);
  return attributes;
}
