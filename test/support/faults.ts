import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

/** What befalls one request: nothing, an error before it is sent, or an answer that is lost after it was carried out. */
export type Fault = "none" | "throttled" | "lost answer";

const errorOf = (name: string): Error => Object.assign(new Error(`injected: ${name}`), { name });

/** Asks `decide` before every request of the client, SDK retries included; answers the function that takes the faults out. */
export const injectFaults = (
  client: DynamoDBDocumentClient,
  decide: (command: string) => Fault | Promise<Fault>,
): (() => void) => {
  const name = "injectFaults";
  client.middlewareStack.add(
    (next, context) => async (request) => {
      const fault = await decide(String(context.commandName));
      if (fault === "throttled") throw errorOf("ThrottlingException");
      const answer = await next(request);
      if (fault === "lost answer") throw errorOf("TimeoutError");
      return answer;
    },
    // At the deserialize step, where a whole answer has been read: a lower one would leave its body open.
    { step: "deserialize", priority: "high", name },
  );
  return () => {
    client.middlewareStack.remove(name);
  };
};
