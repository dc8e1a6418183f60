import { ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { create as createRecordConversation } from "../../functions/record-conversation-upload.ts";
import { createHandlers, type RouteName } from "./handlers.ts";
import { routes } from "../../functions/routes.ts";
import { administrationOf, type ApiRequest, call, createTestOrganization } from "./organization.ts";
import type { TestRuntime } from "./runtime.ts";

/** What an operator works with, on a test's tables and bucket. */
export const operatorOf = (runtime: TestRuntime) => ({ ...runtime, ...administrationOf(runtime) });

/** One organization, and requests with its key. */
export const createCustomer = async (runtime: TestRuntime, id?: string) => {
  const { organization, key, keyId } = await createTestOrganization(runtime, id === undefined ? {} : { id });
  const handlers = await createHandlers(runtime);
  const send = (name: RouteName, request: ApiRequest = {}) => {
    const { method, path: resource } = routes[name];
    return call(handlers[name], { method, resource, key, ...request });
  };
  const apply = (...items: readonly object[]) => send("applyWorkItemBatch", { body: { work_items: items } });
  return { organization, key, keyId, send, apply };
};
/** One organization, and requests with its key. */
export type Customer = Awaited<ReturnType<typeof createCustomer>>;

/** Gives a customer something of everything: items, a deleted one, events, a conversation upload and upload jobs. */
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
  const [{ id } = { id: "" }] = list.body.data as unknown as { id: string }[];
  await send("deleteWorkItem", { params: { id } });
  await createRecordConversation(runtime)({
    organization: organization.id,
    external_id: "c",
    source: "phone",
    status: "pending",
  });
  await send("uploadWorkItems", { body: { upload: { filename: "large.csv", size: 1024 } } });
};

/** Whatever the tables hold that names an organization or is keyed by it, and the keys of its objects. */
export const tracesOf = async ({ dynamodb, s3, environment }: TestRuntime, organization: string) => {
  const { WORK_ITEMS_TABLE, ACCESS_TABLE, LIMITS_TABLE, UPLOADS_BUCKET } = environment;
  const isOwn = (record: Record<string, unknown>): boolean =>
    [record["pk"], record["sk"]].some((part) => String(part).split("#").includes(organization)) ||
    record["organization"] === organization;
  const tables = [WORK_ITEMS_TABLE, ACCESS_TABLE, LIMITS_TABLE].map(async (TableName) => {
    const { Items = [] } = await dynamodb.send(new ScanCommand({ TableName, ConsistentRead: true }));
    return Items.filter(isOwn).map(({ pk, sk }) => `${String(pk)} ${String(sk)}`);
  });
  const { Contents = [] } = await s3.send(
    new ListObjectsV2Command({ Bucket: UPLOADS_BUCKET, Prefix: `uploads/${organization}/` }),
  );
  return [...(await Promise.all(tables)).flat(), ...Contents.map(({ Key: key }) => key)];
};

/** Writes an object as a form or a worker does. */
export const putObject = async ({ s3, environment }: TestRuntime, key: string): Promise<void> => {
  await s3.send(new PutObjectCommand({ Bucket: environment.UPLOADS_BUCKET, Key: key, Body: "a" }));
};
