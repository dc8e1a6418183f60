import type { S3Client } from "@aws-sdk/client-s3";
import {
  type SendMessageBatchCommandInput,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { type DynamoDBDocumentClient, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import type { Clock } from "../../lib/clock.ts";
import type { resources } from "../../lib/resources.ts";
import { vi } from "vitest";
import { randomUUID } from "node:crypto";

/** A fault of one attempt of a request: an error or no response before it is sent, or one that is lost after it was carried out. */
export type Fault = "none" | "throttled" | "unreachable" | "lost response";

/** A client whose requests can have faults. */
type FaultyClient = DynamoDBDocumentClient | S3Client | SQSClient;

const errorOf = (name: string): Error => Object.assign(new Error(`injected: ${name}`), { name });

/**
 * Injects faults into a client's requests.
 * @param decide called for every attempt of a request, including the SDK's retries
 * @returns a function that removes the faults
 */
export const injectFaults = (
  client: FaultyClient,
  decide: (command: string, input: Readonly<Record<string, unknown>>) => Fault | Promise<Fault>,
): (() => void) => {
  const name = "injectFaults";
  const stack = client.middlewareStack as S3Client["middlewareStack"];
  stack.add(
    (next, context) => async (request) => {
      const fault = await decide(String(context.commandName), request.input as never);
      if (fault === "throttled") throw errorOf("ThrottlingException");
      if (fault === "unreachable") throw errorOf("TimeoutError");
      const response = await next(request);
      if (fault === "lost response") throw errorOf("TimeoutError");
      return response;
    },
    // In the deserialize step, after the whole response was read: in a later step its body would stay open.
    { step: "deserialize", priority: "high", name },
  );
  return () => void stack.remove(name);
};

/**
 * Lets requests take as long as they take, for `beforeEach`: on a busy machine the embedded engine may need longer than
 * the 100 ms that a request waits for its limit and for the note of its key's use.
 * @returns what ends it
 */
export const withoutTimeouts = (): (() => void) => {
  const spy = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => new AbortController().signal);
  return () => spy.mockRestore();
};

/** A response as the SDK hands it to the code that has sent the request. */
interface Sent {
  readonly output: object;
}

/**
 * Lets each request of a client go through a function, above the SDK's retries.
 * @param around is given what sends the request, with another input if it has one
 * @param priority `low` is below those of other functions
 * @returns what ends it
 */
export const aroundRequests = (
  client: FaultyClient,
  around: (command: string, input: never, send: (input?: object) => Promise<Sent>) => Promise<object>,
  priority: "normal" | "low" = "normal",
): (() => void) => {
  const stack = client.middlewareStack as S3Client["middlewareStack"];
  const name = `around ${randomUUID()}`;
  stack.add(
    (next, { commandName }) =>
      (request) =>
        around(String(commandName), request.input as never, (input = request.input) =>
          next({ ...request, input }),
        ) as ReturnType<typeof next>,
    { step: "initialize", priority, name },
  );
  return () => void stack.remove(name);
};

/** Makes requests of a client fail as AWS would after the client's last attempt. @returns what ends it */
export const failRequests = (
  client: FaultyClient,
  fail: (
    command: string,
    input: Readonly<Record<string, unknown>>,
  ) => { readonly name: string; readonly httpStatusCode: number } | undefined,
): (() => void) =>
  aroundRequests(client, async (command, input: Readonly<Record<string, unknown>>, send) => {
    const failure = fail(command, input);
    if (failure === undefined) return send();
    const { name, httpStatusCode } = failure;
    throw Object.assign(new Error(`injected: ${name}`), { name, $metadata: { httpStatusCode, attempts: 1 } });
  });

/** Makes SQS refuse some of the messages that are sent together. @returns what ends it */
export const refuseMessages = (
  sqs: SQSClient,
  isRefused: (entry: SendMessageBatchRequestEntry, index: number) => boolean,
): (() => void) =>
  aroundRequests(sqs, async (command, { Entries = [], ...input }: Partial<SendMessageBatchCommandInput>, send) => {
    const refused = command === "SendMessageBatchCommand" ? Entries.filter(isRefused) : [];
    if (refused.length === 0) return send();
    const sent = Entries.filter((entry) => !refused.includes(entry));
    const response = sent.length > 0 ? await send({ ...input, Entries: sent }) : { output: {} };
    const Failed = refused.map(({ Id }) => ({ Id, SenderFault: false, Code: "InternalError" }));
    return { ...response, output: { ...response.output, Failed } };
  });

/** Lets an index show to a client what it shows at the first request: it lags. @returns what ends it */
export const freezeIndex = (
  dynamodb: DynamoDBDocumentClient,
  index: keyof typeof resources.workItems.indexes,
): (() => void) => {
  const shown = new Map<string, Promise<object>>();
  return aroundRequests(dynamodb, (_, { IndexName, ExpressionAttributeValues, ...input }: QueryCommandInput, send) => {
    if (IndexName !== index) return send();
    const asked = JSON.stringify([{ ...ExpressionAttributeValues, ":now": undefined }, input.ExclusiveStartKey]);
    const response = shown.get(asked) ?? send();
    shown.set(asked, response);
    return response;
  });
};

/** Makes S3 say that files were written at the time of the test's clock: the engine has the machine's. */
export const keepFilesOnClock = (s3: S3Client, clock: Clock): void => {
  const written = new Map<string, Date>();
  aroundRequests(s3, async (command, { Key = "" }: { readonly Key?: string }, send) => {
    const response = await send();
    if (command === "PutObjectCommand") written.set(Key, new Date(clock()));
    const LastModified = written.get(Key);
    if (command !== "HeadObjectCommand" || LastModified === undefined) return response;
    return { ...response, output: { ...response.output, LastModified } };
  });
};
