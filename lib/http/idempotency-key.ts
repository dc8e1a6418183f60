import { InvalidInputError } from "../errors.ts";

/** @throws InvalidInputError where the header is not 1 to 255 printable ASCII characters */
export const idempotencyKey = (header: string | undefined): string | undefined => {
  if (header === undefined || /^[\x20-\x7e]{1,255}$/.test(header)) return header;
  throw new InvalidInputError("Idempotency-Key: must be 1 to 255 printable ASCII characters");
};
