import { expect, it } from "vitest";
import { InvalidInputError } from "../../../lib/errors.ts";
import { parseIdempotencyKey } from "../../../lib/http/idempotency-key.ts";

it.each([undefined, "a", "7f1c 2b/{}", "~".repeat(255)])("takes the Idempotency-Key %j as it is", (key) => {
  expect(parseIdempotencyKey({ "idempotency-key": key })).toBe(key);
});

it.each(["", "a".repeat(256), "ä", "a\tb", "a\u0000"])("rejects the Idempotency-Key %j", (key) => {
  expect(() => parseIdempotencyKey({ "idempotency-key": key })).toThrow(InvalidInputError);
});
