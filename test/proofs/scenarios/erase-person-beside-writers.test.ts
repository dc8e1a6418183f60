import { expect, it } from "vitest";
import { erasePerson } from "../../../lib/operator/erase-person.ts";
import { workItemId } from "../../../lib/identity.ts";
import { createBusyOrganization, STEP_MS } from "../../support/busy-organization.ts";
import { createCustomer, everythingIn, operatorOf } from "../../support/customer-data.ts";

const FIRST_SEED = Number(process.env["ERASURE_SEED"] ?? 20_261_123);
const SEEDS = Array.from({ length: Number(process.env["ERASURE_SEEDS"] ?? 1) }, (_, index) => FIRST_SEED + index);
const ANN = "ann@example.com";
const BOB = "bob@example.com";

it.each(SEEDS)(
  "erases a person beside writers and workers, and nothing of others or that follows it (seed %i)",
  async (seed) => {
    let addresses = [ANN, BOB, "Ann@Example.com"];
    let calls = 0;
    const scene = await createBusyOrganization(seed, () => addresses[calls++ % addresses.length]!);
    const { runtime, tasks, acme, acknowledged, step, sleep, replay } = scene;
    const other = await createCustomer(runtime, "acme-2");
    await other.apply({ external_id: "a", agent_email: ANN, events: [{ external_id: "e", actor_email: ANN }] });
    const recordsHolding = async (text: string) =>
      (await everythingIn(runtime)).records.filter((record) => JSON.stringify(record).toLowerCase().includes(text));
    const ofOther = await recordsHolding("acme-2");
    await sleep(3 * STEP_MS);
    step();
    expect((await recordsHolding(ANN)).length).toBeGreaterThan(ofOther.length);

    addresses = [BOB];
    const { work_items: emptied, mentions } = await erasePerson(operatorOf(runtime), "acme", ANN, { sleep });
    expect(emptied).toBeGreaterThan(0);
    // What is frozen now continues, and every message comes once more.
    await tasks.finish();
    await replay();

    const remaining = (await recordsHolding(ANN)).filter((record) => !JSON.stringify(record).includes("acme-2"));
    const named = new Set(mentions.map(({ id }) => id));
    const unnamed = remaining.filter(({ pk }) => ![...named].some((id) => String(pk).includes(id)));
    expect(unnamed).toEqual([]);
    const people = remaining.flatMap((record) => [record["agent_email"], record["actor_email"]]);
    expect(people.filter((email) => String(email).toLowerCase() === ANN)).toEqual([]);
    expect(await recordsHolding("acme-2")).toEqual(ofOther);

    expect(acknowledged.size).toBeGreaterThan(5);
    for (const [name, type] of acknowledged) {
      const response = await acme.send("getWorkItem", { params: { id: workItemId("acme", name) } });
      expect(response.body.data).toMatchObject({ type });
      expect([null, BOB]).toContain(response.body.data.agent.email);
    }
    expect(scene.calls.filter(({ status }) => status === 0 || status === 500)).toEqual([]);
    expect(tasks.freezes()).toBeGreaterThan(3);

    await acme.apply({ external_id: "afterwards", agent_email: ANN });
    const list = await acme.send("listWorkItems", { query: { agent_email: ANN } });
    expect(list.body.data).toMatchObject([{ external_id: "afterwards" }]);
  },
);
