import type { BatchExecuteStatementCommandOutput, DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

const CODE = "DiskFull";

/** Whether an error says that the disk is full, in the words of SQLite, of the file system, or of `reportFullDisk`. */
export function saysDiskFull(text: string): boolean {
  return /disk is full|no space left|"DiskFull"/i.test(text);
}

/**
 * Has a client report a full disk as AWS reports a table that can't be used, so that callers get their response at once. The
 * engine responds with 500, after which a write is repeated until time runs out.
 */
export function reportFullDisk({ middlewareStack }: DynamoDBDocumentClient): void {
  middlewareStack.add(
    (next) => async (request) => {
      try {
        const result = await next(request);
        const { Responses: statements = [] } = result.output as BatchExecuteStatementCommandOutput;
        for (const { Error: error } of Array.isArray(statements) ? statements : []) {
          if (saysDiskFull(error?.Message ?? "")) Object.assign(error!, { Code: CODE });
        }
        return result;
      } catch (error) {
        const { message, $metadata: metadata } = error as Error & { readonly $metadata?: object };
        if (!saysDiskFull(message)) throw error;
        throw Object.assign(new Error(message), { name: CODE, $metadata: { ...metadata, httpStatusCode: 400 } });
      }
    },
    { step: "deserialize", priority: "high" },
  );
}
