import { describe, expect, it } from "vitest";
import { runFuzz } from "./fuzz.ts";

const SEED = 11;

describe("requests made from the OpenAPI document, most of them with faults", () => {
  it(`get responses that are in the document, and none is a fault of the service (seed ${SEED})`, async () => {
    const { requests, statuses, accepted, refused, jobs } = await runFuzz(1500, SEED);
    expect(requests).toBe(1500);
    expect(accepted).toBeGreaterThan(200);
    expect(refused).toBeGreaterThan(50);
    expect(jobs).toBeGreaterThan(0);
    expect(Object.keys(statuses)).toEqual(
      expect.arrayContaining(["200", "201", "202", "304", "400", "401", "404", "409", "412", "413", "415", "422"]),
    );
  });
});
