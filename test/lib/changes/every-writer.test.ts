import { beforeAll, describe, expect, test } from "vitest";
import { create as createRecordQaScore } from "../../../functions/record-qa-score.ts";
import { routes } from "../../../functions/routes.ts";
import { workers } from "../../../functions/workers.ts";
import type { Permissions } from "../../../lib/aws/permissions.ts";
import { workItemEventId, workItemId } from "../../../lib/identity.ts";
import { eraseItem } from "../../../apps/operator/data/erase-item.ts";
import { changeOrganization } from "../../../apps/operator/data/administration.ts";
import { createEraseExpired } from "../../../lib/retention/retention-run.ts";
import { erasePerson } from "../../../apps/operator/data/erase-person.ts";
import { exportOrganization } from "../../../apps/operator/data/export-organization.ts";
import { importOrganization } from "../../../apps/operator/data/import-organization.ts";
import { createTestClock } from "../../support/clock.ts";
import { createFeedCustomer, feedPage } from "../../support/feed.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";
import { multipart } from "../../support/uploads/multipart.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../../support/uploads/upload-harness.ts";

const clock = createTestClock();
const sleep = async (milliseconds: number): Promise<void> => {
  clock.advance(milliseconds);
};
let runtime: TestRuntime;
let customer: Awaited<ReturnType<typeof createFeedCustomer>>;
beforeAll(async () => {
  runtime = await createTestRuntime({ clock });
  customer = await createFeedCustomer(runtime);
  await customer.apply({
    external_id: "there",
    agent_email: "ann@example.com",
    events: [{ external_id: "e", actor_email: "ann@example.com" }],
  });
});

const params = () => ({ id: workItemId(customer.organization.id, "there") });
const upload = async (file: string): Promise<void> => {
  const { id } = (await customer.send("uploadWorkItems", multipart(file))).body.data;
  const harness = createUploadHarness(runtime);
  await harness.split(sqsEvent(splitMessage({ organization: customer.organization.id, id })), lambdaContext(120_000));
  await harness.drain();
};

/** Changes work items by each function that may. @returns the external ids of the items that changed */
const byFunction: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  applyWorkItemBatch: async () => {
    await customer.apply({ external_id: "batch" }, { external_id: "there", type: "changed" });
    return ["batch", "there"];
  },
  createWorkItem: async () => {
    await customer.send("createWorkItem", { body: { work_item: { external_id: "created" } } });
    return ["created"];
  },
  updateWorkItem: async () => {
    await customer.send("updateWorkItem", { params: params(), body: { work_item: { type: "patched" } } });
    return ["there"];
  },
  upsertWorkItemEvent: async () => {
    await customer.send("upsertWorkItemEvent", { params: params(), body: { event: { external_id: "later" } } });
    return ["there"];
  },
  recordQaScore: async () => {
    const score = { organization: customer.organization.id, external_id: "there", qa_score: 0.25 };
    await createRecordQaScore(runtime)(score);
    return ["there"];
  },
  applyUploadChunk: async () => {
    await upload("external_id,type\nuploaded,row\nthere,row\n");
    return ["uploaded", "there"];
  },
  deleteWorkItemEvent: async () => {
    const id = workItemId(customer.organization.id, "there");
    const event = { id, event_id: workItemEventId(id, "e") };
    expect((await customer.send("deleteWorkItemEvent", { params: event })).status).toBe(200);
    return ["there"];
  },
  deleteWorkItemBatch: async () => {
    await customer.apply({ external_id: "first" }, { external_id: "second" });
    await customer.deliver();
    await customer.send("deleteWorkItemBatch", { body: { external_ids: ["first", "second"] } });
    return ["first", "second"];
  },
  eraseExpired: async () => {
    const { id } = customer.organization;
    await customer.apply({ external_id: "expired", completed_at: "2020-01-01T00:00:00Z" });
    await customer.deliver();
    await changeOrganization(runtime, id, { retention_days: 30 });
    await createEraseExpired(runtime, sleep)(runtime.clock() + 3_600_000);
    await changeOrganization(runtime, id, { retention_days: 0 });
    return ["expired"];
  },
  deleteWorkItem: async () => {
    await customer.send("deleteWorkItem", { params: params() });
    return ["there"];
  },
};

/** The same by each command of an operator that writes items. */
const byCommand: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  "import an organization": async () => {
    const { id } = customer.organization;
    let text = "";
    await exportOrganization(runtime, id, async (chunk) => void (text += chunk));
    await customer.apply({ external_id: "created", type: "since the export" });
    await customer.deliver();
    async function* lines() {
      yield* text.trimEnd().split("\n");
    }
    await Array.fromAsync(importOrganization(runtime, id, lines(), { existing: "replace" }));
    return ["created"];
  },
  "erase a person": async () => {
    await customer.apply({ external_id: "there", agent_email: "ann@example.com" });
    await customer.deliver();
    await erasePerson(runtime, customer.organization.id, "ann@example.com", { sleep });
    return ["there"];
  },
  "erase an item": async () => {
    await eraseItem(runtime, customer.organization.id, "batch", { sleep });
    return ["batch"];
  },
};

const WRITES = /^(?:Put|Update|Delete|PartiQL)/;
const mayWriteItems = ({ workItems }: Permissions): boolean =>
  workItems !== undefined &&
  workItems.actions.some((action) => WRITES.test(action)) &&
  (workItems.partitions === undefined || workItems.partitions.includes("ITEM"));

describe("a change of work items is in the feed, regardless of who made it:", () => {
  test("this walks all functions that may write items", () => {
    const all: Readonly<Record<string, { readonly permissions: Permissions }>> = { ...routes, ...workers };
    const writers = Object.entries(all).filter(([, { permissions }]) => mayWriteItems(permissions));
    expect(writers.map(([name]) => name).toSorted()).toEqual(Object.keys(byFunction).toSorted());
  });

  test.each(Object.entries({ ...byFunction, ...byCommand }))("%s", async (_, change) => {
    await customer.deliver();
    const { meta } = await feedPage(customer, { after: "now" });
    const changed = await change();
    await customer.deliver();
    const { data } = await feedPage(customer, { after: meta.page.next });
    const ids = changed.map((externalId) => workItemId(customer.organization.id, externalId));
    expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
  });
});
