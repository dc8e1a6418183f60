import type { DynamoDBDocumentClient, QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import type { resources } from "../../lib/resources.ts";

/** Lets an index show to a client what it shows at the first request: it lags. @returns what ends it */
export const freezeIndex = (
  dynamodb: DynamoDBDocumentClient,
  index: keyof typeof resources.workItems.indexes,
): (() => void) => {
  const shown = new Map<string, Promise<unknown>>();
  dynamodb.middlewareStack.add(
    (next) => (request) => {
      const { IndexName, ExpressionAttributeValues: values = {}, ...input } = request.input as QueryCommandInput;
      if (IndexName !== index) return next(request);
      const { ":now": _now, ...others } = values;
      const asked = JSON.stringify([others, input.ExclusiveStartKey]);
      const response = shown.get(asked) ?? next(request);
      shown.set(asked, response);
      return response as ReturnType<typeof next>;
    },
    { step: "initialize", name: `freeze ${index}` },
  );
  return () => {
    dynamodb.middlewareStack.remove(`freeze ${index}`);
  };
};
