import { type DynamoDBDocumentClient, paginateQuery } from "@aws-sdk/lib-dynamodb";
import type { Attributes } from "../aws/attribute-values.ts";

/** The items on all pages of a query or scan. */
export async function allItems(
  pages: AsyncIterable<{ readonly Items?: Attributes[] | undefined }>,
): Promise<Attributes[]> {
  return (await Array.fromAsync(pages)).flatMap(({ Items = [] }) => Items);
}

/** The records of a partition in pages, strongly consistent. @param attributes a projection expression. @default all */
export async function* partitionPages(
  client: DynamoDBDocumentClient,
  TableName: string,
  pk: string,
  attributes?: string,
): AsyncGenerator<Attributes[]> {
  const query = {
    TableName,
    KeyConditionExpression: "pk = :pk",
    ExpressionAttributeValues: { ":pk": pk },
    ...(attributes !== undefined && { ProjectionExpression: attributes }),
    ConsistentRead: true,
  };
  for await (const { Items = [] } of paginateQuery({ client }, query)) yield Items;
}

/** All records of a partition, strongly consistent. */
export async function readPartition(...partition: Parameters<typeof partitionPages>): Promise<Attributes[]> {
  return (await Array.fromAsync(partitionPages(...partition))).flat();
}
