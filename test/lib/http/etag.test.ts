import { describe, expect, it } from "vitest";
import { InvalidInputError, PreconditionFailedError } from "../../../lib/errors.ts";
import { createAssertVersion, etagOf, isKnown } from "../../../lib/http/etag.ts";

describe("an entity tag", () => {
  it("changes with the body, and with the version", () => {
    const tags = [etagOf("a", 1), etagOf("b", 1), etagOf("a", 2), etagOf("a", undefined)];
    expect(new Set(tags).size).toBe(tags.length);
    expect(etagOf("a", 1)).toBe(etagOf("a", 1));
  });
});

describe("If-None-Match", () => {
  const etag = etagOf("{}", 3);
  it.each([etag, `W/${etag}`, "*", `"1", ${etag}`])("%j names the body that the caller has", (header) => {
    expect(isKnown(header, etag)).toBe(true);
  });

  it.each([undefined, "", '"3"', etag.slice(1, -1), etagOf("{}", 4), etagOf("[]", 3), `${etag} x`])(
    "%j names another body, or none",
    (header) => {
      expect(isKnown(header, etag)).toBe(false);
    },
  );
});

describe("If-Match", () => {
  it.each([undefined, "*", " * ", etagOf("{}", 3), '"1", "3"', '"a,b" ,"3-f00"', ',"3",'])(
    "%j takes version 3",
    (header) => {
      expect(() => createAssertVersion(header)(3)).not.toThrow();
    },
  );

  it.each([etagOf("{}", 4), '"33"', 'W/"3-f00"', '"1","2"', '""', '"f00-3"', '"3f00"'])(
    "%j refuses version 3",
    (header) => {
      expect(() => createAssertVersion(header)(3)).toThrow(PreconditionFailedError);
    },
  );

  it.each(["", "3", '"3', "'3'", '*, "3"', '"3" x', ","])("%j isn't a list of entity tags", (header) => {
    expect(() => createAssertVersion(header)).toThrow(InvalidInputError);
  });
});
