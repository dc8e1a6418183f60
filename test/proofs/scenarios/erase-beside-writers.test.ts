import { expect, it } from "vitest";
import { eraseOrganization } from "../../../lib/operator/erase-organization.ts";
import { KEY_CACHE_SECONDS } from "../../../lib/organizations/authenticate.ts";
import { createBusyOrganization, ITEMS, STEP_MS } from "../../support/busy-organization.ts";
import { createCustomer, everythingIn, fill, operatorOf, tracesOf } from "../../support/customer-data.ts";

/** What is called, frozen and repeated depends on the seed; in which order requests reach the store does not. */
const FIRST_SEED = Number(process.env["ERASURE_SEED"] ?? 20_261_123);
const SEEDS = Array.from({ length: Number(process.env["ERASURE_SEEDS"] ?? 4) }, (_, index) => FIRST_SEED + index);

const ANN = "ann@example.com";
const BOB = "bob@example.com";

const recordsOf = async (runtime: Parameters<typeof everythingIn>[0], organization: string) =>
  (await everythingIn(runtime)).records.filter((record) => JSON.stringify(record).includes(organization));

it.each(SEEDS)(
  "erases an organization beside writers and workers, and nothing that follows it (seed %i)",
  async (seed) => {
    const { runtime, clock, tasks, acme, calls, step, sleep, replay } = await createBusyOrganization(seed, () => BOB);
    const other = await createCustomer(runtime, "acme-2");
    await other.apply({ external_id: "item-0", agent_email: ANN, events: [{ external_id: "e" }] });
    const ofOther = await recordsOf(runtime, "acme-2");
    await sleep(3 * STEP_MS);
    step();

    const began = clock();
    const { passes } = await eraseOrganization(operatorOf(runtime), "acme", { sleep });
    expect(passes).toBeGreaterThan(1);
    expect(await tracesOf(runtime, "acme", acme.keyId)).toEqual([]);
    // What is frozen now continues, and every message comes once more.
    await tasks.finish();
    await replay();
    expect(await tracesOf(runtime, "acme", acme.keyId)).toEqual([]);
    expect(await recordsOf(runtime, "acme-2")).toEqual(ofOther);

    const late = calls.filter(({ time }) => time > began + 2 * KEY_CACHE_SECONDS * 1000);
    expect(late.length).toBeGreaterThan(10);
    expect(new Set(late.map(({ status }) => status))).toEqual(new Set([401]));
    expect(calls.filter(({ status }) => status === 0 || status === 500)).toEqual([]);
    expect(tasks.freezes()).toBeGreaterThan(3);

    const again = await createCustomer(runtime, "acme");
    await fill(runtime, again);
    await again.apply(
      ...Array.from({ length: ITEMS }, (_, index) => ({ external_id: `item-${index}`, type: "again" })),
    );
    const before = await everythingIn(runtime);
    await replay();
    expect(await everythingIn(runtime)).toEqual(before);
  },
);
