import { describe, expect, it } from "vitest";
import { ExternalIdTakenError } from "../../../lib/errors.ts";
import { createCreateWorkItem } from "../../../lib/work-items/work-item-creation.ts";
import { type Fault, injectFaults } from "../../support/faults.ts";
import { organizationWith } from "../../support/organization.ts";
import { createTestRuntime } from "../../support/runtime.ts";

const organization = organizationWith();
const WRITES = new Set(["PutItemCommand", "TransactWriteItemsCommand"]);

describe.each([
  ["by a put", { external_id: "A" }],
  ["with its events in a transaction", { external_id: "A", events: [{ external_id: "E" }] }],
])("creates an item %s and", (_, input) => {
  /** A create whose writes have these faults. */
  const createWith = async (...faults: Fault[]) => {
    const runtime = await createTestRuntime();
    injectFaults(runtime.dynamodb, (command) => (WRITES.has(command) ? (faults.shift() ?? "none") : "none"));
    return createCreateWorkItem(runtime);
  };

  it("finds it although every response was lost", async () => {
    const create = await createWith("lost response", "lost response", "lost response");
    expect(await create(organization, input)).toMatchObject({ version: 1, item: { external_id: "A" } });
  });

  it("finds it although the first response was lost and the write was sent again", async () => {
    const create = await createWith("lost response");
    expect(await create(organization, input)).toMatchObject({ version: 1, item: { external_id: "A" } });
  });

  it("tries until the table responds again", async () => {
    const create = await createWith("unreachable", "unreachable", "unreachable", "throttled");
    expect(await create(organization, input)).toMatchObject({ version: 1 });
    await expect(create(organization, input)).rejects.toThrow(ExternalIdTakenError);
  });

  it("knows its own Idempotency-Key although the response was lost", async () => {
    const create = await createWith("lost response");
    const key = { key: "once", content: input };
    const [first, second] = await Promise.all([create(organization, input, key), create(organization, input, key)]);
    expect(second.id).toBe(first.id);
    await expect(create(organization, input, { key: "twice", content: input })).rejects.toThrow(ExternalIdTakenError);
  });
});
