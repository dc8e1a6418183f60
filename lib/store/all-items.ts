import { type DynamoDBDocumentClient, paginateQuery } from "@aws-sdk/lib-dynamodb";
import type { Attributes } from "../aws/attribute-values.ts";

/** The items on all pages of a query or scan. */
export async function allItems(
  pages: AsyncIterable<{ readonly Items?: Attributes[] | undefined }>,
): Promise<Attributes[]> {
  return (await Array.fromAsync(pages)).flatMap(({ Items = [] }) => Items);
}

/** All records of a partition, strongly consistent. @param attributes those that are kept in memory. @default all */
export function readPartition(
  client: DynamoDBDocumentClient,
  TableName: string,
  pk: string,
  attributes?: string,
): Promise<Attributes[]> {
  const query = {
    TableName,
    KeyConditionExpression: "pk = :pk",
    ExpressionAttributeValues: { ":pk": pk },
    ...(attributes !== undefined && { ProjectionExpression: attributes }),
    ConsistentRead: true,
  };
  return allItems(paginateQuery({ client }, query));
}
