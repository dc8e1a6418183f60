import { paginateScan } from "@aws-sdk/lib-dynamodb";
import { allItems } from "../store/all-items.ts";
import { type OnDamaged, stopAtDamaged, unlessDamaged } from "../store/decode-record.ts";
import { batchGet } from "../store/batch-get.ts";
import { SORT_KEY } from "../resources.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { type AccessRuntime, type ApiKeyRecord, decodeKey } from "../organizations/access-store.ts";
import { keyUseKey } from "../organizations/key-use.ts";

/**
 * The API keys of all organizations, by organization, newest first, without damaged ones. It reads the whole Access table.
 * @param onDamaged @default throws
 */
export async function listAllKeys(
  { dynamodb, environment }: AccessRuntime,
  onDamaged: OnDamaged = stopAtDamaged,
): Promise<ApiKeyRecord[]> {
  const pages = paginateScan(
    { client: dynamodb },
    {
      TableName: environment.ACCESS_TABLE,
      FilterExpression: `begins_with(${SORT_KEY}, :keys)`,
      ExpressionAttributeValues: { ":keys": "KEY#" },
      ConsistentRead: true,
    },
  );
  const keys = (await allItems(pages)).flatMap((item) => unlessDamaged(() => decodeKey(item), onDamaged) ?? []);
  return keys.toSorted(
    (a, b) => a.organization.localeCompare(b.organization) || b.created_at.localeCompare(a.created_at),
  );
}

/** The hours of the keys' last uses, ISO 8601, by key id. Keys that were never used are missing. */
export async function lastUsesOf(
  { dynamodb, environment }: Pick<RuntimeWith<"limits">, "dynamodb" | "environment">,
  keys: readonly Pick<ApiKeyRecord, "key_id">[],
): Promise<ReadonlyMap<string, string>> {
  const recordKeys = keys.map(({ key_id: id }) => ({ id, ...keyUseKey(id) }));
  const found = await batchGet(
    dynamodb,
    environment.LIMITS_TABLE,
    recordKeys.map(({ pk, sk }) => ({ pk, sk })),
  );
  const byPartition = new Map(found.map(({ pk, used_at: usedAt }) => [pk, usedAt]));
  return new Map(
    recordKeys.flatMap(({ id, pk }) => {
      const usedAt = byPartition.get(pk);
      return typeof usedAt === "string" ? [[id, usedAt]] : [];
    }),
  );
}
