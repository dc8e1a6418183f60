import { randomUUID } from "node:crypto";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { requirePeer } from "./require-peer.ts";
import { itemOf } from "./uploads-data.ts";

/** The same service as a single-table design by ElectroDB would be built: get and put by item, an index of full items. */
export interface ElectroDbPeer {
  readonly create: (prefix: string, index: number) => Promise<void>;
  /** Reads an item, and writes it if it differs. */
  readonly upsert: (prefix: string, index: number, change: object) => Promise<void>;
  readonly get: (prefix: string, index: number) => Promise<void>;
  /** A page of 100 items as JSON, newest first. */
  readonly list: () => Promise<void>;
}

type Item = Readonly<Record<string, unknown>>;
interface Request<T> {
  readonly go: (options?: object) => Promise<T>;
}
/** What is used of the package: the project doesn't hold its types. */
interface ElectroDb {
  readonly Entity: new (
    schema: object,
    config: { readonly client: DynamoDBDocumentClient; readonly table: string },
  ) => {
    readonly put: (item: Item) => Request<unknown>;
    readonly get: (key: Item) => Request<{ readonly data: Item | null }>;
    readonly query: {
      readonly byCompletion: (key: Item) => Request<{ readonly data: readonly Item[]; readonly cursor: string | null }>;
    };
  };
}

const ITEMS_PER_PAGE = 100;

/** Makes the peer's own table. */
export const createElectroDbPeer = async (): Promise<ElectroDbPeer> => {
  const { Entity } = requirePeer("electrodb") as ElectroDb;
  const client = new DynamoDBClient({});
  const table = `electrodb-${randomUUID()}`;
  await client.send(
    new CreateTableCommand({
      TableName: table,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      AttributeDefinitions: ["pk", "sk", "gsi1pk", "gsi1sk"].map((AttributeName) => ({
        AttributeName,
        AttributeType: "S",
      })),
      GlobalSecondaryIndexes: [
        {
          IndexName: "gsi1",
          KeySchema: [
            { AttributeName: "gsi1pk", KeyType: "HASH" },
            { AttributeName: "gsi1sk", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "ALL" },
        },
      ],
    }),
  );
  const workItems = new Entity(
    {
      model: { entity: "workItem", version: "1", service: "workItems" },
      attributes: {
        organization: { type: "string", required: true },
        external_id: { type: "string", required: true },
        agent_email: { type: "string" },
        agent_name: { type: "string" },
        type: { type: "string" },
        status: { type: "string" },
        completed_at: { type: "string", required: true },
        custom_attributes: { type: "any" },
        created_at: { type: "string", required: true },
        updated_at: { type: "string", required: true },
      },
      indexes: {
        primary: {
          pk: { field: "pk", composite: ["organization"], casing: "none" },
          sk: { field: "sk", composite: ["external_id"], casing: "none" },
        },
        byCompletion: {
          index: "gsi1",
          pk: { field: "gsi1pk", composite: ["organization"], casing: "none" },
          sk: { field: "gsi1sk", composite: ["completed_at", "external_id"], casing: "none" },
        },
      },
    },
    { client: DynamoDBDocumentClient.from(client), table },
  );
  const organization = "peer";
  const now = "2026-01-31T09:30:00.000Z";
  const keyOf = (prefix: string, index: number) => ({ organization, external_id: itemOf(prefix, index).external_id });
  return {
    create: async (prefix, index) => {
      await workItems.put({ organization, ...itemOf(prefix, index), created_at: now, updated_at: now }).go();
    },
    upsert: async (prefix, index, change) => {
      const { data } = await workItems.get(keyOf(prefix, index)).go({ consistent: true });
      if (data === null) throw new Error("the peer found no item");
      const next = { ...data, ...itemOf(prefix, index), ...change };
      if (JSON.stringify(next) === JSON.stringify(data)) return;
      await workItems.put({ ...next, updated_at: now }).go();
    },
    get: async (prefix, index) => {
      const { data } = await workItems.get(keyOf(prefix, index)).go({ consistent: true });
      if (data === null) throw new Error("the peer found no item");
      JSON.stringify({ data });
    },
    list: async () => {
      const { data, cursor } = await workItems.query
        .byCompletion({ organization })
        .go({ order: "desc", limit: ITEMS_PER_PAGE });
      if (data.length !== ITEMS_PER_PAGE) throw new Error("the peer listed too few items");
      JSON.stringify({ data, cursor });
    },
  };
};
