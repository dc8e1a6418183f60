import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { allRoutes } from "../../functions/routes.ts";
import { safeParse } from "../../lib/safe-parse.ts";

const leaf = fc.oneof(
  fc.constantFrom<unknown>(null, true, 1, -1, 0.5, "", "x", "completed", "50", "ann@example.com", "a\ud800"),
  fc.constant("2026-01-31T09:30:00+02:00"),
);
const some = <T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(shape, { requiredKeys: [] });
/** Values of the kinds that bodies hold, with names that are known, unknown and dangerous. */
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "medium" },
    leaf,
    fc.array(tie("value"), { maxLength: 3 }),
    some({ external_id: leaf, status: leaf, completed_at: leaf, custom_attributes: tie("value"), agent_email: leaf }),
    some({ external_id: fc.constant("e"), content: leaf, occurred_at: leaf, events: tie("value") }),
    some({ fields: tie("value"), column: leaf, first_of: tie("value"), format: leaf, others: leaf }),
    fc.dictionary(fc.constantFrom("__proto__", "constructor", "external_id", "unknown"), tie("value"), { maxKeys: 3 }),
  ),
}));
const body = some({
  work_item: value,
  work_items: fc.array(value, { maxLength: 3 }),
  event: value,
  upload: some({ filename: leaf, size: leaf, dry_run: leaf, mapping: value, unknown: leaf }),
  dry_run: leaf,
});
const oneKeyOf = body.map((all) => Object.fromEntries(Object.entries(all).slice(0, 1)));

const outcomeOf = ({ data, error }: z.ZodSafeParseResult<unknown>) => ({ data, issues: error?.issues });

describe("safeParse", () => {
  it.each(allRoutes().filter(({ bodyKind }) => bodyKind !== "none"))(
    "finds in a body of $name the first time what it finds later",
    ({ body: schema }) => {
      fc.assert(
        fc.property(fc.oneof(body, oneKeyOf), (given) => {
          // A new schema, as of a new instance, around the one that has been compiled.
          const first = safeParse(z.pipe(z.unknown(), schema), given);
          expect(outcomeOf(first)).toEqual(outcomeOf(schema.safeParse(given)));
        }),
        { numRuns: 500 },
      );
    },
  );

  it("parses by a schema without compiling it the first time, and not later", () => {
    const schema = z.object({});
    const parse = vi.spyOn(schema, "safeParse");
    for (let call = 0; call < 3; call++) safeParse(schema, {});
    expect(parse.mock.calls.map(([, context]) => context?.jitless)).toEqual([true, false, false]);
  });
});
