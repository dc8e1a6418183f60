import { describe, expect, it } from "vitest";
import { InvalidInputError, PreconditionFailedError } from "../../../lib/errors.ts";
import { assertMatches, etagOf, parseIfMatch } from "../../../lib/http/etag.ts";

describe("If-Match", () => {
  it.each([undefined, "*", " * ", etagOf(3), '"1", "3"', '"a,b" ,"3"', ',"3",'])("%j takes version 3", (header) => {
    expect(() => assertMatches(parseIfMatch(header), 3)).not.toThrow();
  });

  it.each([etagOf(4), '"33"', 'W/"3"', '"1","2"', '""'])("%j refuses version 3", (header) => {
    expect(() => assertMatches(parseIfMatch(header), 3)).toThrow(PreconditionFailedError);
  });

  it.each(["", "3", '"3', "'3'", '*, "3"', '"3" x', ","])("%j is no list of entity tags", (header) => {
    expect(() => parseIfMatch(header)).toThrow(InvalidInputError);
  });
});
