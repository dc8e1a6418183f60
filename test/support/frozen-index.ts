import type { DynamoDBDocumentClient, QueryCommandInput } from "@aws-sdk/lib-dynamodb";

/** Lets the index of open jobs show to a client what it shows at the first request: it lags. @returns what ends it */
export const freezeOpenJobs = (dynamodb: DynamoDBDocumentClient): (() => void) => {
  const shown = new Map<string, Promise<unknown>>();
  dynamodb.middlewareStack.add(
    (next) => (request) => {
      const { IndexName, ...input } = request.input as QueryCommandInput;
      if (IndexName !== "open_jobs") return next(request);
      const asked = JSON.stringify([
        input.ExpressionAttributeValues?.[":pk"],
        input.ExpressionAttributeValues?.[":of"],
      ]);
      const response = shown.get(asked) ?? next(request);
      shown.set(asked, response);
      return response as ReturnType<typeof next>;
    },
    { step: "initialize", name: "freezeOpenJobs" },
  );
  return () => {
    dynamodb.middlewareStack.remove("freezeOpenJobs");
  };
};
