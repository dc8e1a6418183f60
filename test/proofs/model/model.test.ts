import { describe, expect, it } from "vitest";
import { runHistories } from "./histories.ts";
import { type Call, findOrder, type Specification } from "./linearizability.ts";
import { runSequences } from "./sequences.ts";

const SEED = 20_261_121;

describe("the service and its model", () => {
  it(`give the same responses to sequences of calls of three organizations (seed ${SEED})`, async () => {
    const { sequences, commands } = await runSequences(24, SEED);
    expect(sequences).toBe(24);
    expect(commands).toBeGreaterThan(200);
  });

  it(`let calls at the same time happen one after another (seed ${SEED})`, async () => {
    const { histories, unknown } = await runHistories(32, SEED);
    expect(histories).toBe(32);
    expect(unknown).toBeGreaterThan(5);
  });
});

describe("the search for an order", () => {
  type Operation = { readonly write: number } | "read";
  const register: Specification<number, Operation, number> = {
    initial: 0,
    keyOf: String,
    apply: (state, operation) =>
      operation === "read"
        ? { state, allows: (response) => response === state }
        : { state: operation.write, allows: () => true },
  };
  const call = (operation: Operation, calledAt: number, at?: number, response = 0): Call<Operation, number> => ({
    operation,
    calledAt,
    returned: at === undefined ? undefined : { at, response },
  });

  it("explains reads that see a write before it has returned", () => {
    const history = [call({ write: 1 }, 0, 5), call("read", 1, 2, 1), call("read", 3, 4, 1)];
    expect(findOrder(register, history)).toEqual(history);
  });
  it("finds none if a read sees an older value than a read before it", () => {
    const history = [call({ write: 1 }, 0, 5), call("read", 1, 2, 1), call("read", 3, 4, 0)];
    expect(findOrder(register, history)).toBeUndefined();
  });
  it("finds none if a write that has returned is not seen", () => {
    expect(findOrder(register, [call({ write: 1 }, 0, 1), call("read", 2, 3, 0)])).toBeUndefined();
  });
  it("lets a write without response take effect later or never", () => {
    const reads = (first: number, second: number) => [call("read", 1, 2, first), call("read", 3, 4, second)];
    expect(findOrder(register, [call({ write: 1 }, 0), ...reads(0, 1)])).toBeDefined();
    expect(findOrder(register, [call({ write: 1 }, 0), ...reads(0, 0)])).toBeDefined();
    expect(findOrder(register, [call({ write: 1 }, 0), ...reads(1, 0)])).toBeUndefined();
  });
});
