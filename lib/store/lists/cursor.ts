import { createHmac, timingSafeEqual } from "node:crypto";
import { InvalidInputError } from "../../errors.ts";

/** A cursor is valid only for the list and filters that it was made for. */
export interface CursorScope {
  readonly organization: { readonly id: string; readonly cursorSecret: string };
  /** Name of the list. That of a list below a resource contains the resource's id. */
  readonly list: string;
  readonly filters: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** 16 bytes, so that a forged cursor would take 2^128 attempts. */
const MAC_BYTES = 16;

function macOf({ organization, list, filters }: CursorScope, position: string): Buffer {
  const mac = createHmac("sha256", organization.cursorSecret);
  const set = Object.entries(filters).filter(([, value]) => value !== undefined);
  mac.update(JSON.stringify([organization.id, list, set.toSorted(([a], [b]) => (a < b ? -1 : 1)), position]));
  return mac.digest().subarray(0, MAC_BYTES);
}

/** Makes an opaque, signed cursor for a position in a list. */
export function encodeCursor(scope: CursorScope, position: string): string {
  return Buffer.concat([macOf(scope, position), Buffer.from(position, "utf8")]).toString("base64url");
}

/** The position in a cursor. @throws InvalidInputError if `encodeCursor` did not make it for the same scope */
export function decodeCursor(scope: CursorScope, cursor: string): string {
  const bytes = Buffer.from(cursor, "base64url");
  const position = bytes.subarray(MAC_BYTES).toString("utf8");
  const canonical = bytes.length > MAC_BYTES && bytes.toString("base64url") === cursor;
  if (!canonical || !timingSafeEqual(macOf(scope, position), bytes.subarray(0, MAC_BYTES))) {
    const message = "must be a meta.page.next of the same list with the same filters";
    throw new InvalidInputError([{ path: ["cursor"], code: "invalid_value", message, isParameter: true }]);
  }
  return position;
}
