import { GetCommand, paginateQuery } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { getItem } from "../store/batch-get.ts";
import { decoderOf } from "../store/decode-record.ts";
import { partitionKeyOf } from "../resources.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import type { RecordKey } from "../store/versioned-record.ts";
import { keyScopeSchema } from "./api-key.ts";
import { organizationIdSchema, organizationRecordSchema, toOrganization, type Organization } from "./organization.ts";

/** The record of an API key. The Access table has it twice: by the key's hash and in its organization's partition. */
export const apiKeyRecordSchema = z.object({
  organization: organizationIdSchema,
  key_id: z.string(),
  hash: z.string(),
  name: z.string(),
  created_at: z.string(),
  /** ISO 8601; from this time on the key is rejected. */
  valid_until: z.string().optional(),
  /** Absent means all. */
  scopes: z.array(keyScopeSchema).optional(),
  revoked_at: z.string().optional(),
  /** Id of the key that it was made to replace. */
  replaces: z.string().optional(),
});
/** A decoded record of an API key. */
export type ApiKeyRecord = z.output<typeof apiKeyRecordSchema>;

/** Decodes the record of an API key. @throws MalformedRecordError */
export const decodeKey = decoderOf("API key", apiKeyRecordSchema);
const decodeLogOwner = decoderOf(
  "organization",
  organizationRecordSchema.pick({ changes_from: true, erasing_since: true }),
);
/** Decodes the record of an organization. @throws MalformedRecordError */
export const decodeOrganization = decoderOf("organization", organizationRecordSchema);

/** Primary key of an API key's record, by the key's hash. */
export function keyRecordKey(hash: string) {
  return { pk: `KEY#${hash}`, sk: "#KEY" };
}
/** Partition of an organization's record and of its list of API keys. */
export function organizationPartition(organization: string): string {
  return `ORGANIZATION#${organization}`;
}
/** Primary key of an API key's record in its organization's partition. */
export function listedKeyKey({ organization, key_id: id }: Pick<ApiKeyRecord, "organization" | "key_id">) {
  return { pk: organizationPartition(organization), sk: `KEY#${id}` };
}
/** Primary key of an organization's record. */
export function organizationRecordKey(organization: string) {
  return { pk: organizationPartition(organization), sk: "#ORGANIZATION" };
}

/** Primary key of an organization's entry in the list of all organizations. */
export function listedOrganizationKey(organization: string) {
  return { pk: partitionKeyOf("ORGANIZATIONS", "all"), sk: organization };
}

/** What reading the Access table requires of a runtime. */
export type AccessRuntime = Pick<RuntimeWith<"access">, "dynamodb" | "environment">;

/** Reads the Access table, with one GetItem for each call. */
export function createAccessStore({ dynamodb, environment }: AccessRuntime) {
  const get = async (key: RecordKey, consistent = false) =>
    (await dynamodb.send(new GetCommand({ TableName: environment.ACCESS_TABLE, Key: key, ConsistentRead: consistent })))
      .Item;
  return {
    findKey: async (hash: string): Promise<ApiKeyRecord | undefined> => {
      const item = await get(keyRecordKey(hash));
      return item && decodeKey(item);
    },
    /** @returns undefined if it doesn't exist or is being erased */
    findOrganization: async (id: string, { consistent = false } = {}): Promise<Organization | undefined> => {
      const item = await get(organizationRecordKey(id), consistent);
      const record = item && decodeOrganization(item);
      return record === undefined || record.erasing_since !== undefined ? undefined : toOrganization(record);
    },
  };
}
/** A store of API keys and organizations. */
export type AccessStore = ReturnType<typeof createAccessStore>;

/**
 * Reads the first number of an organization's change log, strongly consistent. It decodes only what it needs, so that
 * other damage to the record doesn't stop changes.
 * @returns undefined for an organization that doesn't exist or is being erased: nothing is logged for it
 */
export async function readFirstNumber(
  { dynamodb, environment }: AccessRuntime,
  organization: string,
): Promise<number | undefined> {
  const item = await getItem(dynamodb, environment.ACCESS_TABLE, organizationRecordKey(organization));
  if (item === undefined) return undefined;
  const { changes_from: first, erasing_since: since } = decodeLogOwner(item);
  return since === undefined ? first : undefined;
}

/** The ids of all organizations in order, in pages. @param after the last id of an earlier page */
export async function* listOrganizationIds(
  { dynamodb, environment }: AccessRuntime,
  after?: string,
): AsyncGenerator<readonly string[]> {
  const pages = paginateQuery(
    { client: dynamodb },
    {
      TableName: environment.ACCESS_TABLE,
      KeyConditionExpression: "pk = :pk AND sk > :after",
      ExpressionAttributeValues: { ":pk": listedOrganizationKey("").pk, ":after": after ?? " " },
      ConsistentRead: true,
      Limit: 100,
    },
  );
  for await (const { Items = [] } of pages) yield Items.map(({ sk }) => String(sk));
}
