import { createHmac, timingSafeEqual } from "node:crypto";
import { InvalidInputError } from "../errors.ts";
import type { Organization } from "../organizations/organization.ts";

/** What a cursor belongs to: it is good for the same list with the same filters only. */
export interface CursorScope {
  readonly organization: Pick<Organization, "id" | "cursorSecret">;
  /** Name of the route, and of the thing listed where the route lists under one. */
  readonly list: string;
  readonly filters: Readonly<Record<string, string | undefined>>;
}

/** 16 bytes: a forger needs 2^128 tries. */
const MAC_BYTES = 16;

const macOf = ({ organization, list, filters }: CursorScope, position: string): Buffer => {
  const mac = createHmac("sha256", organization.cursorSecret);
  const set = Object.entries(filters).filter(([, value]) => value !== undefined);
  mac.update(JSON.stringify([organization.id, list, set.toSorted(([a], [b]) => (a < b ? -1 : 1)), position]));
  return mac.digest().subarray(0, MAC_BYTES);
};

/** An opaque, signed name for a position in a list. */
export const encodeCursor = (scope: CursorScope, position: string): string =>
  Buffer.concat([macOf(scope, position), Buffer.from(position, "utf8")]).toString("base64url");

/** @throws InvalidInputError where the cursor is not one that `encodeCursor` gave for the same scope */
export const decodeCursor = (scope: CursorScope, cursor: string): string => {
  const bytes = Buffer.from(cursor, "base64url");
  const position = bytes.subarray(MAC_BYTES).toString("utf8");
  const canonical = bytes.length > MAC_BYTES && bytes.toString("base64url") === cursor;
  if (!canonical || !timingSafeEqual(macOf(scope, position), bytes.subarray(0, MAC_BYTES))) {
    throw new InvalidInputError("cursor: must be a meta.page.next of the same list with the same filters");
  }
  return position;
};
