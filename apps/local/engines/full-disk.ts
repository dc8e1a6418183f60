import type { createDynamoDbClient } from "@work-items/lib/aws/dynamodb-client.ts";

const CODE = "DiskFull";

/** Whether an error says that the disk is full, in the words of SQLite, of the file system, or of `reportFullDisk`. */
export function saysDiskFull(text: string): boolean {
  return /disk is full|no space left|"DiskFull"/i.test(text);
}

/** What a batch responds for one of its statements. */
interface Statement {
  readonly Error?: { readonly Message?: string };
}

/**
 * Has a client report a full disk as AWS reports a table that can't be used, so that callers get their response at once. The
 * engine responds with 500, after which a write is repeated until time runs out.
 */
export function reportFullDisk({ middlewareStack }: ReturnType<typeof createDynamoDbClient>): void {
  middlewareStack.add(
    (next) => async (request) => {
      try {
        const result = await next(request);
        const { Responses: statements } = result.output as { readonly Responses?: unknown };
        for (const { Error: error } of Array.isArray(statements) ? (statements as Statement[]) : []) {
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
