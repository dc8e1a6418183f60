import { paginateQuery } from "@aws-sdk/lib-dynamodb";
import type { RuntimeWith } from "../aws/runtime.ts";
import type { Organization } from "../organizations/organization.ts";
import { idAt, listingSource } from "../store/lists/partition.ts";

const ITEMS_PER_PAGE = 100;
/** What places in a list of work items begin with: those that aren't completed, by creation; then the others. */
const PLACES = ["1#", "2#"] as const;

/**
 * The ids of work items, deleted ones too, that the lists show as completed before a time, or created if they aren't
 * completed, in pages, the oldest of each list first.
 * @param before ISO 8601
 */
export async function* listExpiredItems(
  { dynamodb, environment }: RuntimeWith<"workItems">,
  organization: Organization,
  before: string,
): AsyncGenerator<readonly string[]> {
  for (const kind of ["LIST_ITEM", "LIST_DELETED_ITEM"] as const) {
    const { index, partitionKey, partitions } = listingSource(kind, organization);
    for (const partition of partitions) {
      for (const place of PLACES) {
        const query = {
          TableName: environment.WORK_ITEMS_TABLE,
          IndexName: index,
          KeyConditionExpression: "#pk = :pk AND listing_sk BETWEEN :from AND :to",
          ExpressionAttributeNames: { "#pk": partitionKey },
          ExpressionAttributeValues: { ":pk": partition, ":from": place, ":to": `${place}${before}` },
        };
        for await (const { Items = [] } of paginateQuery({ client: dynamodb, pageSize: ITEMS_PER_PAGE }, query)) {
          if (Items.length > 0) yield Items.map(({ listing_sk: sk }) => idAt(String(sk)));
        }
      }
    }
  }
}
