import { GetCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { decoderOf } from "../dynamodb/decode-record.ts";
import { PARTITION_KEY, SORT_KEY } from "../resources.ts";
import type { RuntimeWith } from "../runtime/runtime.ts";
import { organizationIdSchema, organizationRecordSchema, toOrganization, type Organization } from "./organization.ts";

/** An API key as the Access table keeps it: under its hash, and once more in the organization's list of keys. */
export const apiKeyRecordSchema = z.object({
  organization: organizationIdSchema,
  key_id: z.string(),
  hash: z.string(),
  name: z.string(),
  created_at: z.string(),
  /** The moment from which the key is refused. */
  valid_until: z.string().optional(),
  revoked_at: z.string().optional(),
});
export type ApiKeyRecord = z.output<typeof apiKeyRecordSchema>;

/** @throws MalformedRecordError */
export const decodeKey = decoderOf("API key", apiKeyRecordSchema);
/** @throws MalformedRecordError */
export const decodeOrganization = decoderOf("organization", organizationRecordSchema);

export const keyRecordKey = (hash: string) => ({ [PARTITION_KEY]: `KEY#${hash}`, [SORT_KEY]: "#KEY" });
export const organizationPartition = (organization: string): string => `ORGANIZATION#${organization}`;
export const organizationRecordKey = (organization: string) => ({
  [PARTITION_KEY]: organizationPartition(organization),
  [SORT_KEY]: "#ORGANIZATION",
});

/** What functions read of the Access table, one GetItem each. */
export interface AccessStore {
  findKey(hash: string): Promise<ApiKeyRecord | undefined>;
  findOrganization(id: string): Promise<Organization | undefined>;
}

export type AccessRuntime = Pick<RuntimeWith<"access">, "dynamodb" | "environment">;

export const createAccessStore = ({ dynamodb, environment }: AccessRuntime): AccessStore => {
  const get = async (key: Record<string, string>) =>
    (await dynamodb.send(new GetCommand({ TableName: environment.ACCESS_TABLE, Key: key }))).Item;
  return {
    async findKey(hash) {
      const item = await get(keyRecordKey(hash));
      return item && decodeKey(item);
    },
    async findOrganization(id) {
      const item = await get(organizationRecordKey(id));
      return item && toOrganization(decodeOrganization(item));
    },
  };
};
