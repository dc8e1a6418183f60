import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createNoteKeyUse, keyUseKey } from "../../../lib/organizations/key-use.ts";
import { createTestClock } from "../../support/clock.ts";
import { type Fault, injectFaults, withoutTimeouts } from "../../support/faults.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";

const HOUR_MS = 3_600_000;
const clock = createTestClock(Date.parse("2026-03-01T12:34:56Z"));
let runtime: TestRuntime;
let writes = 0;
let fault: Fault = "none";
beforeAll(async () => {
  runtime = await createTestRuntime({ clock });
  injectFaults(runtime.dynamodb, (command) => {
    if (command === "UpdateItemCommand") writes += 1;
    return fault;
  });
});
beforeEach(withoutTimeouts);
const usedAt = async (keyId: string): Promise<unknown> => {
  const { LIMITS_TABLE: table } = runtime.environment;
  const { Item } = await runtime.dynamodb.send(new GetCommand({ TableName: table, Key: keyUseKey(keyId) }));
  return Item?.["used_at"];
};

describe("the last use of a key", () => {
  it("is kept to the hour, with one write an hour and instance", async () => {
    const note = createNoteKeyUse(runtime);
    writes = 0;
    for (let request = 0; request < 50; request++) await note("hourly");
    expect(writes).toBe(1);
    expect(await usedAt("hourly")).toBe("2026-03-01T12:00:00.000Z");
    clock.advance(HOUR_MS);
    for (let request = 0; request < 50; request++) await note("hourly");
    expect(writes).toBe(2);
    expect(await usedAt("hourly")).toBe("2026-03-01T13:00:00.000Z");
  });

  it("never goes back, although the clocks of instances differ", async () => {
    await createNoteKeyUse(runtime)("late");
    const slow = createNoteKeyUse({ ...runtime, clock: () => clock() - HOUR_MS });
    await slow("late");
    expect(await usedAt("late")).toBe("2026-03-01T13:00:00.000Z");
  });

  it("delays and fails no request when the table does not respond, and is noted later", async () => {
    const note = createNoteKeyUse(runtime);
    fault = "unreachable";
    await note("unlucky");
    fault = "none";
    await note("unlucky");
    expect(await usedAt("unlucky")).toBeUndefined();
    clock.advance(60_000);
    await note("unlucky");
    expect(await usedAt("unlucky")).toBe("2026-03-01T13:00:00.000Z");
  });
});
