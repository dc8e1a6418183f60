import { paginateScan } from "@aws-sdk/lib-dynamodb";
import { expect, it } from "vitest";
import { create as recordConversationUpload } from "../../functions/record-conversation-upload.ts";
import { workItemId } from "../../lib/identity.ts";
import { allItems } from "../../lib/store/all-items.ts";
import { encodeCursor } from "../../lib/store/lists/cursor.ts";
import { createTestOrganization } from "../support/organization.ts";
import { createCaller, createTestService } from "../support/service.ts";
import { multipart } from "../support/uploads/multipart.ts";

const LISTS = {
  listWorkItems: "work_items",
  listWorkItemUploads: "work_item_uploads",
  listConversationUploads: "conversation_uploads",
} as const;

it("a cursor that is signed with an organization's secret for any position leads to nothing of another one", async () => {
  const { runtime, ...own } = await createTestService();
  const other = await createTestOrganization(runtime);
  const callers = [own, { ...other, call: createCaller(runtime, other.key) }];
  for (const { organization, call } of callers) {
    const name = organization.id;
    const work_items = [1, 2, 3].map((number) => ({
      external_id: `${name} ${number}`,
      ...(number === 1 && { completed_at: "2026-01-31T09:30:00Z" }),
      events: [{ external_id: `event of ${name}` }],
    }));
    expect((await call("applyWorkItemBatch", { body: { work_items } })).body.data.summary).toMatchObject({
      created: 3,
    });
    await call("uploadWorkItems", multipart(`external_id\n${name} 4\n`));
    const conversation = { external_id: `conversation of ${name}`, status: "pending", source: "phone" } as const;
    await recordConversationUpload(runtime)({ organization: name, ...conversation });
  }
  const scan = paginateScan({ client: runtime.dynamodb }, { TableName: runtime.environment.WORK_ITEMS_TABLE });
  const stored = await allItems(scan);
  const keys = stored.flatMap(({ pk, sk, listing_pk: list, listing_sk: place }) => [pk, sk, list, place]);
  const ids = [1, 2, 3].map((number) => workItemId(other.organization.id, `${other.organization.id} ${number}`));
  const positions = [...new Set([...keys, ...ids, "~", " ", "0", "2#", "\uFFFF"])].filter(
    (position): position is string => typeof position === "string",
  );

  const scopeOf = (list: string) => ({ organization: own.organization, list, filters: {} });
  const item = workItemId(own.organization.id, `${own.organization.id} 1`);
  let shown = 0;
  for (const position of positions) {
    const responses = [
      ...(Object.keys(LISTS) as (keyof typeof LISTS)[]).map((name) =>
        own.call(name, { query: { cursor: encodeCursor(scopeOf(LISTS[name]), position) } }),
      ),
      own.call("listWorkItemEvents", {
        params: { id: item },
        query: { cursor: encodeCursor(scopeOf(`work_items/${item}/events`), position) },
      }),
      // The feed's cursor also has the id of the item before, which a response may repeat.
      ...[item, ...ids].map((last) => {
        const list = encodeCursor(scopeOf(LISTS.listWorkItems), position);
        return own.call("listWorkItemChanges", {
          query: { after: encodeCursor(scopeOf("work_items/changes"), `2 ${last} ${list}`) },
        });
      }),
    ];
    for (const { status, text } of await Promise.all(responses)) {
      expect([position, text.includes(other.organization.id)]).toEqual([position, false]);
      if (status === 200 && text.includes(own.organization.id)) shown += 1;
    }
  }
  expect(positions.length).toBeGreaterThan(20);
  expect(shown).toBeGreaterThan(20);
});
