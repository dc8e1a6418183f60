import { hash } from "node:crypto";
import { InvalidInputError, PreconditionFailedError } from "../errors.ts";

const DIGEST_CHARACTERS = 16;

/**
 * The entity tag of a response body: a digest, after the version of the record if it has one. The digest changes with
 * everything that the body shows, such as the events of a work item, which do not change its version.
 */
export function etagOf(body: string, version: number | undefined): string {
  const digest = hash("sha256", body).slice(0, DIGEST_CHARACTERS);
  return version === undefined ? `"${digest}"` : `"${version}-${digest}"`;
}

/** The version at the start of an entity tag; undefined for weak tags and those of others. */
function versionOf(tag: string): number | undefined {
  const version = /^"(\d{1,15})(?:-[^"]*)?"$/.exec(tag)?.[1];
  return version === undefined ? undefined : Number(version);
}

const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** The entity tags in a header; undefined if it isn't a list of entity tags. */
function tagsIn(header: string): readonly string[] | undefined {
  const tags = header.match(ENTITY_TAG);
  return tags !== null && /^[\s,]*$/.test(header.replaceAll(ENTITY_TAG, "")) ? tags : undefined;
}

/**
 * Makes the function that compares a version with `If-Match` (RFC 9110 §13.1.1). Versions only, so that an event added by
 * another system doesn't cause a 412. A weak tag matches no version.
 * @returns a function that throws PreconditionFailedError if the header is there and doesn't name the version
 * @throws InvalidInputError if the header is neither `*` nor a list of entity tags
 */
export function createAssertVersion(header = "*"): (version: number) => void {
  if (header.trim() === "*") return () => undefined;
  const tags = tagsIn(header);
  if (tags === undefined) {
    const message = 'must be * or a list of entity tags such as "3-5f1d2c3b4a596877"';
    throw new InvalidInputError([{ path: ["If-Match"], code: "invalid_format", message, isParameter: true }]);
  }
  const versions = new Set(tags.map(versionOf));
  return (version) => {
    if (versions.has(version)) return;
    throw new PreconditionFailedError("the record has changed: If-Match names another version than the stored one");
  };
}

/**
 * Whether a caller with this `If-None-Match` (RFC 9110 §13.1.2) already has the representation. A gateway that compresses
 * may have made the tag weak. A malformed header matches nothing, so the whole response is sent.
 */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return (tagsIn(ifNoneMatch) ?? []).some((tag) => tag.replace(/^W\//, "") === etag);
}
