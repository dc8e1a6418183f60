import { InvalidInputError } from "../errors.ts";

/** The entity tag of a work item at a version; events move neither. */
export const etagOf = (version: number): string => `"${version}"`;

/**
 * Whether a version satisfies `If-Match`: `*` and a list of strong tags as RFC 9110 §13.1.1 has them.
 * @returns undefined where there is no such header
 * @throws InvalidInputError where the header is neither
 */
export const ifMatch = (header: string | undefined): ((version: number) => boolean) | undefined => {
  if (header === undefined) return undefined;
  const value = header.trim();
  if (value === "*") return () => true;
  const tags = value.split(",").map((tag) => tag.trim());
  if (!tags.every((tag) => /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/.test(tag))) {
    throw new InvalidInputError('If-Match: must be "*" or a list of entity tags');
  }
  return (version) => tags.includes(etagOf(version));
};
