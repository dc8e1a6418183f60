import type { S3Client } from "@aws-sdk/client-s3";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

/** A fault of one request: an error or no response before it is sent, or a response that is lost after it was carried out. */
export type Fault = "none" | "throttled" | "unreachable" | "lost response";

const errorOf = (name: string): Error => Object.assign(new Error(`injected: ${name}`), { name });

/**
 * Injects faults into a client's requests.
 * @param decide called for every request, including the SDK's retries
 * @returns a function that removes the faults
 */
export const injectFaults = (
  client: DynamoDBDocumentClient,
  decide: (command: string) => Fault | Promise<Fault>,
): (() => void) => {
  const name = "injectFaults";
  client.middlewareStack.add(
    (next, context) => async (request) => {
      const fault = await decide(String(context.commandName));
      if (fault === "throttled") throw errorOf("ThrottlingException");
      if (fault === "unreachable") throw errorOf("TimeoutError");
      const response = await next(request);
      if (fault === "lost response") throw errorOf("TimeoutError");
      return response;
    },
    // In the deserialize step, after the whole response was read: in a later step its body would stay open.
    { step: "deserialize", priority: "high", name },
  );
  return () => {
    client.middlewareStack.remove(name);
  };
};

/** Makes requests of a client fail as AWS would after the client's last attempt. @returns what ends it */
export const failRequests = (
  client: DynamoDBDocumentClient | S3Client,
  fail: (command: string) => { readonly name: string; readonly httpStatusCode: number } | undefined,
): (() => void) => {
  const stack = client.middlewareStack as S3Client["middlewareStack"];
  stack.add(
    (next, context) => (request) => {
      const failure = fail(String(context.commandName));
      if (failure === undefined) return next(request);
      const { name, httpStatusCode } = failure;
      throw Object.assign(new Error(`injected: ${name}`), { name, $metadata: { httpStatusCode, attempts: 1 } });
    },
    { step: "initialize", name: "failRequests" },
  );
  return () => {
    stack.remove("failRequests");
  };
};
