import { InvalidInputError } from "../errors.ts";

const IDEMPOTENCY_KEY_MAX_CHARACTERS = 255;

/**
 * Reads the `Idempotency-Key` header.
 * @returns undefined if it is absent
 * @throws InvalidInputError unless it is 1 to 255 printable ASCII characters
 */
export function parseIdempotencyKey(headers: Readonly<Record<string, string | undefined>>): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined || (/^[\x20-\x7e]+$/.test(key) && key.length <= IDEMPOTENCY_KEY_MAX_CHARACTERS)) return key;
  const message = `must be 1 to ${IDEMPOTENCY_KEY_MAX_CHARACTERS} printable ASCII characters`;
  throw new InvalidInputError([{ path: ["Idempotency-Key"], code: "invalid_format", message, isParameter: true }]);
}
