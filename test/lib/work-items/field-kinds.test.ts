import { describe, expect, it } from "vitest";
import * as z from "zod";
import { parseJson } from "../../../lib/json.ts";
import {
  fieldFilters,
  fields,
  inputShape,
  responseShape,
  storedShape,
} from "../../../lib/work-items/field-definition.ts";
import { KINDS } from "../../../lib/work-items/field-kinds.ts";

const ROWS = fields({
  priority: {
    kind: KINDS.wholeNumber(1, 5),
    label: "Priority",
    description: "How urgent it is.",
    filter: "Only these.",
  },
  stage: {
    kind: KINDS.choice("Stage", "How far something is.", ["new", "known"]),
    label: "Stage",
    description: "How far it is.",
    initial: "new",
  },
});
const input = z.strictObject(inputShape(ROWS));

describe("a field", () => {
  it("of whole numbers takes those of its range, however many digits they are written with", () => {
    for (const given of [4, parseJson("4.0"), parseJson("0.4e1")]) {
      expect(input.parse({ priority: given })).toEqual({ priority: 4 });
    }
    expect(input.safeParse({ priority: 6 }).error?.issues).toMatchObject([
      { path: ["priority"], message: "must be a whole number from 1 to 5" },
    ]);
    expect(input.safeParse({ priority: 2.5 }).success).toBe(false);
  });

  it("of whole numbers is read from cells with either decimal mark", () => {
    const { fromCell } = ROWS.priority.kind;
    expect(input.parse({ priority: fromCell?.("4.0", ".") })).toEqual({ priority: 4 });
    expect(input.parse({ priority: fromCell?.(" 4,0", ",") })).toEqual({ priority: 4 });
    expect(() => fromCell?.("urgent", ".")).toThrow('"urgent" isn\'t a number');
  });

  it("is cleared by null unless it has an initial value", () => {
    expect(input.parse({ priority: null })).toEqual({ priority: null });
    expect(input.safeParse({ stage: null }).success).toBe(false);
    expect(responseShape(ROWS).priority.safeParse(null).success).toBe(true);
    expect(responseShape(ROWS).stage.safeParse(null).success).toBe(false);
  });

  it("has its initial value in a record that is older than it", () => {
    expect(z.object(storedShape(ROWS)).parse({})).toEqual({ priority: null, stage: "new" });
  });

  it("with a filter is compared with the parameter's value", () => {
    const { priority } = fieldFilters(ROWS);
    expect(priority.matches({ priority: 4, stage: "new" }, 4)).toBe(true);
    expect(priority.matches({ priority: null, stage: "new" }, 4)).toBe(false);
  });
});
