import { InvalidInputError, PreconditionFailedError } from "../errors.ts";

/** The strong entity tag of a record's version. Changes of a work item's events change neither. */
export const etagOf = (version: number): string => `"${version}"`;

/** A parsed `If-Match` header: `*` for any version, or a set of entity tags. */
export type IfMatch = "*" | ReadonlySet<string>;

const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/**
 * Reads `If-Match` (RFC 9110 §13.1.1).
 * @returns undefined if the header is absent
 * @throws InvalidInputError if it is neither `*` nor a list of entity tags
 */
export const parseIfMatch = (header: string | undefined): IfMatch | undefined => {
  if (header === undefined) return undefined;
  if (header.trim() === "*") return "*";
  const tags = header.match(ENTITY_TAG);
  if (tags === null || !/^[\s,]*$/.test(header.replaceAll(ENTITY_TAG, ""))) {
    throw new InvalidInputError('If-Match: must be * or a list of entity tags such as "3"');
  }
  return new Set(tags);
};

/**
 * Compares strongly: a weak tag matches no version.
 * @throws PreconditionFailedError if the stored version is none of those in the header
 */
export const assertMatches = (ifMatch: IfMatch | undefined, version: number): void => {
  if (ifMatch === undefined || ifMatch === "*" || ifMatch.has(etagOf(version))) return;
  throw new PreconditionFailedError("the record has changed: If-Match names another version than the stored one");
};
