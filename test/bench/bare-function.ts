import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import createFunction from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import * as z from "zod";

/** The least that a function of this kind can be: middy, a schema, the document client, and one request to a table. */
const pathSchema = z.object({ id: z.uuid() });
const itemSchema = z.object({ pk: z.string(), sk: z.string() });
const dynamodb = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export const handler = createFunction<APIGatewayProxyEvent, APIGatewayProxyResult>().handler(async (event) => {
  const { id } = pathSchema.parse(event.pathParameters);
  const { Item } = await dynamodb.send(
    new GetCommand({ TableName: process.env["WORK_ITEMS_TABLE"], Key: { pk: id, sk: "#ITEM" } }),
  );
  const body = JSON.stringify({ data: itemSchema.optional().parse(Item) ?? null });
  return { statusCode: 200, headers: { "content-type": "application/json" }, body };
});
