import { paginateListObjectsV2, PutObjectCommand } from "@aws-sdk/client-s3";
import { paginateScan, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { create as createRecordConversation } from "../../functions/record-conversation-upload.ts";
import { allItems } from "../../lib/store/all-items.ts";
import { resources, resourcesOfKind } from "../../lib/resources.ts";
import { createCaller } from "./service.ts";
import { administrationOf, createTestOrganization } from "./organization.ts";
import type { TestRuntime } from "./runtime.ts";

/** What an operator works with, on a test's tables and bucket. */
export const operatorOf = (runtime: TestRuntime) => ({ ...runtime, ...administrationOf(runtime) });

/** One organization, and requests with its key. */
export const createCustomer = async (runtime: TestRuntime, id?: string) => {
  const { organization, key, keyId } = await createTestOrganization(runtime, id === undefined ? {} : { id });
  const send = createCaller(runtime, key);
  const apply = (...items: readonly object[]) => send("applyWorkItemBatch", { body: { work_items: items } });
  return { organization, key, keyId, send, apply };
};
/** One organization, and requests with its key. */
export type Customer = Awaited<ReturnType<typeof createCustomer>>;

/** Gives a customer something of everything: items, a deleted one, events, a conversation upload, upload jobs and a webhook. */
export const fill = async (runtime: TestRuntime, { organization, send, apply }: Customer): Promise<void> => {
  const event = {
    external_id: "e",
    actor_email: "Ann@example.com",
    actor_name: "Ann",
    content: "said ann@example.com",
  };
  await apply(
    { external_id: "kept", agent_email: "ann@example.com", agent_name: "Ann", events: [event] },
    { external_id: "deleted", agent_email: "ANN@example.com", completed_at: "2026-01-02T03:04:05Z" },
    { external_id: "of another", agent_email: "bob@example.com", custom_attributes: { by: "ann@example.com", n: 1 } },
  );
  const list = await send("listWorkItems", { query: { external_id: "deleted" } });
  const [{ id } = { id: "" }] = list.body.data;
  await send("deleteWorkItem", { params: { id } });
  await createRecordConversation(runtime)({
    organization: organization.id,
    external_id: "c",
    source: "phone",
    status: "pending",
  });
  await send("uploadWorkItems", { body: { upload: { filename: "large.csv", size: 1024 } } });
  await send("createWebhook", { body: { webhook: { url: "https://localhost:4000/hook" } } });
};

/** All records of all tables, so that one added later is not forgotten. */
export const allRecords = async ({ dynamodb, environment }: TestRuntime): Promise<Record<string, unknown>[]> => {
  const tables = resourcesOfKind("table").map(async ([name]) =>
    allItems(
      paginateScan(
        { client: dynamodb },
        { TableName: environment[resources[name].variable], ConsistentRead: true, Limit: 1000 },
      ),
    ),
  );
  return (await Promise.all(tables)).flat();
};
/** The keys of all objects in the bucket. */
const allObjects = async ({ s3, environment }: TestRuntime): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket: environment.UPLOADS_BUCKET })) {
    keys.push(...Contents.flatMap(({ Key: key }) => key ?? []));
  }
  return keys;
};

/** All records and the keys of all objects, in an order that two calls have in common. */
export async function everythingIn(runtime: TestRuntime) {
  const nameOf = ({ pk, sk }: Record<string, unknown>): string => `${String(pk)} ${String(sk)}`;
  const records = await allRecords(runtime);
  return {
    records: records.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
    objects: (await allObjects(runtime)).toSorted(),
  };
}

/** Whatever the tables hold that names an organization anywhere, and the keys of its objects. @param ids of its API keys */
export const tracesOf = async (runtime: TestRuntime, organization: string, ...ids: readonly string[]) => {
  // No longer id of which it is a part.
  const named = new RegExp(`(?<![a-z0-9-])(${[organization, ...ids].join("|")})(?![a-z0-9-])`);
  const records = (await allRecords(runtime)).filter((record) => named.test(JSON.stringify(record)));
  const objects = (await allObjects(runtime)).filter((key) => named.test(key));
  return [...records.map(({ pk, sk }) => `${String(pk)} ${String(sk)}`), ...objects];
};

/** Writes an object as a form or a worker does. */
export const putObject = async ({ s3, environment }: TestRuntime, key: string): Promise<void> => {
  await s3.send(new PutObjectCommand({ Bucket: environment.UPLOADS_BUCKET, Key: key, Body: "a" }));
};

/** Gives an attribute of a record a value that no version of the service has written. */
export const overwrite = async (
  { dynamodb, environment }: Pick<TestRuntime, "dynamodb" | "environment">,
  table: keyof TestRuntime["environment"] & `${string}_TABLE`,
  Key: object,
  attribute: string,
  value: unknown = "damaged",
): Promise<void> => {
  await dynamodb.send(
    new UpdateCommand({
      TableName: environment[table],
      Key: { ...Key },
      UpdateExpression: "SET #attribute = :value",
      ExpressionAttributeNames: { "#attribute": attribute },
      ExpressionAttributeValues: { ":value": value },
      ConditionExpression: "attribute_exists(pk)",
    }),
  );
};
