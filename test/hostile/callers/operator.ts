import { eraseItem } from "../../../apps/operator/data/erase-item.ts";
import { eraseOrganization } from "../../../apps/operator/data/erase-organization.ts";
import { organizationRecordKey } from "../../../lib/organizations/access-store.ts";
import { operatorOf, overwrite, tracesOf } from "../../support/customer-data.ts";
import type { Changes } from "../world/changes.ts";
import type { Customer, Service } from "../world/service.ts";
import { NO_RESPONSE, type World } from "../world/world.ts";
import { createItemCaller, type Scene } from "./item-caller.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Instances know an organization for so long. */
const CACHED_MS = MINUTE_MS;

/** An organization whose operator erases items and all of it, and to which the worst happens. */
export function createOperator(
  scene: Scene & { readonly world: World; readonly service: Service; readonly changes: Changes },
  customer: Customer,
  seed: number,
) {
  const { world, service, oracle, changes } = scene;
  const { base, hostilities } = world;
  const { id } = customer.organization;
  /** Each standstill of days makes all readers start over, which hides what they had missed: not all worlds have one. */
  const isLong = world.random() < 0.5;
  const heldMs = [MINUTE_MS, 10 * MINUTE_MS, ...(isLong ? [5 * HOUR_MS, 25 * HOUR_MS] : [])];
  const stillMs = [HOUR_MS, 2 * HOUR_MS, ...(isLong ? [23.5 * HOUR_MS, 12 * 24 * HOUR_MS, 31 * 24 * HOUR_MS] : [])];

  /** The operator's commands are repeated until they succeed; they wait by the clock. */
  const command = async (work: () => Promise<unknown>): Promise<void> => {
    await world.call(Infinity, { isCalm: true, mayStop: false }, work);
  };
  const sleep = (milliseconds: number): Promise<void> => world.sleep(milliseconds);

  /** Creates an item of its own, and erases it. */
  const eraseOne = async (number: number): Promise<void> => {
    const externalId = `erased ${number % 3}`;
    const caller = createItemCaller(scene, customer, [externalId], seed + number);
    await caller.run(3);
    const call = oracle.begin(id, { kind: "erase", externalId });
    let status = 200;
    await command(() =>
      eraseItem(operatorOf(world.runtime), id, externalId, { sleep }).catch((error: Error) => {
        if (error.name !== "NotFoundError") throw error;
        status = 404;
      }),
    );
    oracle.end(call, world.clock, [{ status }]);
  };

  /** Damages the organization's record for a while: meanwhile nothing can be appended to its log. */
  const wreck = async (milliseconds: number): Promise<void> => {
    const set = (value: unknown) =>
      world.outside(() => overwrite(base, "ACCESS_TABLE", organizationRecordKey(id), "changes_from", value));
    hostilities.count("standstills", "a damaged organization");
    customer.troubledUntil = Infinity;
    await set("damaged");
    await world.sleep(milliseconds);
    await set(customer.organization.changesFrom);
    customer.troubledUntil = world.clock() + CACHED_MS;
  };

  /** Someone who hasn't heard of the erasure: nothing that they write may be left, and nothing of it fails. */
  const stray = async (key: string, number: number): Promise<void> => {
    const work_items = [{ external_id: `stray ${number}`, events: [{ external_id: "e" }] }];
    for (let status: number | undefined; status !== 401;) {
      const response = await service.call({ key }, "applyWorkItemBatch", { body: { work_items } });
      status = response === NO_RESPONSE ? undefined : response.status;
      if (status === 500 && world.clock() > customer.troubledUntil) oracle.report("wrong", { stray: response });
      await world.sleep(world.below(MINUTE_MS / 4));
    }
  };

  return {
    run: async (isOver: () => boolean): Promise<void> => {
      for (let number = 0; !isOver(); number++) {
        await world.sleep(world.below(4 * MINUTE_MS));
        if (hostilities.has("standstills")) {
          if (world.random() < 0.2) changes.stream.split();
          if (world.random() < 0.2) changes.stream.hold(world.pick(heldMs));
          if (world.random() < 0.1) await wreck(world.pick([MINUTE_MS, HOUR_MS, 2 * HOUR_MS]));
          if (world.random() < 0.15) {
            hostilities.count("standstills", "everything stands still");
            world.clock.advance(world.pick(stillMs));
          }
        }
        if (world.random() < 0.4) await eraseOne(number);
      }
    },
    /** Erases the organization and creates it again under its ID, while everything else continues. */
    eraseAndMakeAgain: async (): Promise<void> => {
      const { key } = customer;
      const strays = [0, 1, 2].map((number) => stray(key, number));
      await world.sleep(MINUTE_MS);
      customer.isErasing = true;
      await command(() => eraseOrganization(operatorOf(world.runtime), id, { sleep }));
      oracle.erase(id);
      const left = await world.outside(() => tracesOf(base, id));
      if (left.length > 0) oracle.report("wrong", { "left of an erased organization": left });
      await Promise.all(strays);
      const made = await service.createCustomer(id);
      Object.assign(customer, made, { troubledUntil: customer.troubledUntil, erased: customer.erased + 1 });
    },
  };
}
