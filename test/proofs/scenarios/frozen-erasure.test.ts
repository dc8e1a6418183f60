import { expect, test } from "vitest";
import { eraseOrganization } from "../../../apps/operator/data/erase-organization.ts";
import { createTestClock } from "../../support/clock.ts";
import { createCustomer, everythingIn, fill, operatorOf, putObject, tracesOf } from "../../support/customer-data.ts";
import { createTestRuntime } from "../../support/runtime.ts";
import { createFaultyRuntime, type FaultyRun } from "../../support/uploads/fault-injection.ts";

const MINUTE_MS = 60_000;

test("an erasure that is frozen before any later request touches nothing of an organization that was made again", async () => {
  const clock = createTestClock();
  const runtime = await createTestRuntime({ clock });
  const sleep = async (milliseconds: number): Promise<void> => clock.advance(milliseconds);
  await fill(runtime, await createCustomer(runtime, "acme"));
  // Its name begins with that of the other.
  await fill(runtime, await createCustomer(runtime, "acme-2"));
  const { runtime: faulty, during } = createFaultyRuntime(runtime);
  // Before its first request, with which it reads the organization, it hasn't started.
  let place = 1;
  for (let isFrozen = true; isFrozen; place++) {
    const frozen = Promise.withResolvers<true>();
    const resume = Promise.withResolvers<void>();
    let requests = 0;
    // Only the eraser's own requests count, however many it needs: records are spread at random.
    const run: FaultyRun = {
      clock,
      faultOf: () => (requests++ === place ? "stall before" : "none"),
      statementFault: () => "none",
      stop: () => {
        frozen.resolve(true);
        return resume.promise;
      },
      onMessages: () => undefined,
    };
    const late = during(run, () => eraseOrganization(operatorOf(faulty), "acme", { sleep })).catch(
      (error: unknown) => error,
    );
    isFrozen = await Promise.race([frozen.promise, late.then(() => false)]);
    if (!isFrozen) break;
    clock.advance(20 * MINUTE_MS);
    await eraseOrganization(operatorOf(runtime), "acme", { sleep });
    expect({ place, left: await tracesOf(runtime, "acme") }).toEqual({ place, left: [] });
    const again = await createCustomer(runtime, "acme");
    await fill(runtime, again);
    // Jobs have ids of their own, unless they are requested with the same Idempotency-Key.
    await putObject(runtime, `uploads/acme/job-${place}/source.csv`);
    const before = await everythingIn(runtime);
    resume.resolve();
    expect(await late).toBeInstanceOf(Error);
    expect({ place, now: await everythingIn(runtime) }).toEqual({ place, now: before });
  }
  expect(place).toBeGreaterThan(20);
});
