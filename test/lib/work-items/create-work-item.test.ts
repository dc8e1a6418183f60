import { expect, it } from "vitest";
import { ExternalIdTakenError } from "../../../lib/errors.ts";
import { createCreateWorkItem } from "../../../lib/work-items/create-work-item.ts";
import { type Fault, injectFaults } from "../../support/faults.ts";
import { organizationWith } from "../../support/organization.ts";
import { createTestRuntime } from "../../support/runtime.ts";

const organization = organizationWith();
const input = { external_id: "A", events: [{ external_id: "E" }] };

/** A create whose transactions have these faults. */
const createWith = async (...faults: Fault[]) => {
  const runtime = await createTestRuntime();
  injectFaults(runtime.dynamodb, (command) =>
    command.startsWith("TransactWrite") ? (faults.shift() ?? "none") : "none",
  );
  return createCreateWorkItem(runtime);
};

it("finds the item that it has created although every response was lost", async () => {
  const create = await createWith("lost response", "lost response", "lost response");
  expect(await create(organization, input)).toMatchObject({ version: 1, item: { external_id: "A" } });
});

it("creates the item once the table responds again", async () => {
  const create = await createWith("unreachable", "unreachable", "unreachable", "throttled");
  expect(await create(organization, input)).toMatchObject({ version: 1 });
  await expect(create(organization, input)).rejects.toThrow(ExternalIdTakenError);
});
