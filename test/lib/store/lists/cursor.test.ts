import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeCursor, encodeCursor } from "../../../../lib/store/lists/cursor.ts";

const scope = { organization: { id: "acme", cursorSecret: "secret" }, list: "work_items", filters: { type: "call" } };

describe("cursors", () => {
  it("come back as the position that they were made of", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), (position) => {
        const written = position.toWellFormed();
        expect(decodeCursor(scope, encodeCursor(scope, written))).toBe(written);
      }),
    );
  });
  it("hold for one organization, list and set of filters only, whatever the order of the filters", () => {
    const cursor = encodeCursor(scope, "place");
    const others = [
      { ...scope, organization: { ...scope.organization, id: "other" } },
      { ...scope, organization: { ...scope.organization, cursorSecret: "other" } },
      { ...scope, list: "conversation_uploads" },
      { ...scope, filters: {} },
      { ...scope, filters: { type: "call", status: "pending" } },
    ];
    for (const other of others) expect(() => decodeCursor(other, cursor)).toThrow("cursor");
    const two = { ...scope, filters: { a: "1", b: "2" } };
    expect(decodeCursor({ ...scope, filters: { b: "2", a: "1", c: undefined } }, encodeCursor(two, "p"))).toBe("p");
  });
  it("are rejected whatever single character is changed", () => {
    const cursor = encodeCursor(scope, "place");
    fc.assert(
      fc.property(fc.nat(cursor.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, character) => {
        fc.pre(cursor[at] !== character);
        expect(() => decodeCursor(scope, cursor.slice(0, at) + character + cursor.slice(at + 1))).toThrow("cursor");
      }),
    );
  });
});
