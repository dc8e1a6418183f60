import { beforeAll, describe, expect, it } from "vitest";
import { searchCanaries } from "./canaries.ts";
import { tryCursors } from "./cursors.ts";
import { compareForeignIds, compareForeignNames, endpointsWithId } from "./foreign-ids.ts";
import { createTenants, type Tenants } from "./tenants.ts";

/** Every bit is flipped by npm run prove -- isolation. */
const EVERY_SO_MANY_BITS = 61;

describe("organizations", () => {
  let tenants: Tenants;
  beforeAll(async () => {
    tenants = await createTenants();
  });

  it("get the same response to ids of others as to ids that don't exist, at every endpoint", async () => {
    const { compared, differences } = await compareForeignIds(tenants);
    expect(differences).toEqual([]);
    expect(compared).toBeGreaterThan(endpointsWithId * 40);
  });
  it("can use the names of others, and learn nothing by it", async () => {
    const { compared, differences } = await compareForeignNames(tenants);
    expect(differences).toEqual([]);
    expect(compared).toBe(12);
  });
  it("have cursors that are good for one list with one set of filters only, and not with a bit flipped", async () => {
    const { tried, accepted } = await tryCursors(tenants, EVERY_SO_MANY_BITS);
    expect(accepted).toEqual([]);
    expect(tried).toBeGreaterThan(400);
  });
});

it("no key, email address or content is in a log line, a metric or a response to an error", async () => {
  const { requests, errors, logLines, found } = await searchCanaries(1, 20_261_121);
  expect(found).toEqual([]);
  expect(requests).toBeGreaterThan(25);
  expect(errors).toBeGreaterThan(10);
  expect(logLines).toBeGreaterThan(requests / 2);
});
