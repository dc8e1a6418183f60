import { UnreadableResponseError } from "./error-codes.ts";

/** The part of a client that the check needs: the SDK's middleware, which sees each command and its output. */
interface CheckedClient {
  readonly middlewareStack: {
    add(middleware: never, options: { step: "initialize"; priority: "high"; name: string }): void;
  };
}

type Members = Readonly<Record<string, unknown>>;
type Send = (request: { readonly input: Members }) => Promise<{ readonly output: Members }>;

/**
 * By command, the members that every response of the API has. Some depend on the request. SendMessage needs none: the SDK
 * compares the message's hash.
 */
const MEMBERS: Readonly<Record<string, readonly string[] | ((input: Members) => readonly string[])>> = {
  BatchExecuteStatementCommand: ["Responses"],
  BatchGetItemCommand: ["Responses"],
  BatchWriteItemCommand: ["UnprocessedItems"],
  QueryCommand: ["Count"],
  ScanCommand: ["Count"],
  UpdateItemCommand: ({ ReturnValues = "NONE" }) => (ReturnValues === "NONE" ? [] : ["Attributes"]),

  CompleteMultipartUploadCommand: ["ETag"],
  CreateMultipartUploadCommand: ["UploadId"],
  GetObjectCommand: ({ Range }) => ["ETag", "ContentLength", ...(Range === undefined ? [] : ["ContentRange"])],
  HeadObjectCommand: ["ETag", "ContentLength", "LastModified"],
  PutObjectCommand: ["ETag"],
  UploadPartCommand: ["ETag"],
};

/** Whether each entry of a SendMessageBatch has an outcome. */
function answersAll({ Entries }: Members, { Successful = [], Failed = [] }: Members): boolean {
  const ids = new Set([Successful, Failed].flatMap((list) => (list as { Id?: string }[]).map(({ Id }) => Id)));
  return (Entries as { Id: string }[]).every(({ Id }) => ids.has(Id));
}

function hasOwnForm(command: string, input: Members, output: Members): boolean {
  if (command === "SendMessageBatchCommand") return answersAll(input, output);
  const members = MEMBERS[command] ?? [];
  const required = typeof members === "function" ? members(input) : members;
  return required.every((name) => output[name] !== undefined);
}

/** Names of the SDK's errors for an unreadable response: JavaScript's own, or names that aren't codes of the API. */
const UNREADABLE = new Set(["Error", "RangeError", "SyntaxError", "TypeError", "Unknown", "UnknownError"]);

interface Failure extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
}

/** Whether an error isn't one of the API's own. @param command the failed command */
function isUnreadable(error: unknown, command: string): boolean {
  if (!(error instanceof Error)) return false;
  const { name, message, $metadata } = error as Failure;
  // The SDK compares the hash of a message outside of its retries, and so without metadata.
  if ($metadata === undefined) return message === "InvalidChecksumError";
  // S3's responses to HEAD have no body. Elsewhere this is the SDK's name for any 404 whose body has no code.
  if (name === "NotFound") return !command.startsWith("Head") || $metadata.requestId === undefined;
  return UNREADABLE.has(name);
}

/**
 * Makes a client throw an `UnreadableResponseError` for each response that doesn't have the form of the API, which the SDK
 * turns into an error of its parser, or an output in which everything is absent.
 */
export function checkResponses<C>(client: C): C {
  const middleware =
    (next: Send, context: { readonly commandName?: string }): Send =>
    async (request) => {
      const command = context.commandName ?? "";
      const sent = await next(request).catch((error: unknown) => {
        if (!isUnreadable(error, command)) throw error;
        const status = (error as Failure).$metadata?.httpStatusCode;
        throw new UnreadableResponseError(
          `${command}: the response cannot be read (status ${status ?? "unknown"})`,
          error,
        );
      });
      // The presigners sign a request instead of sending it: there is no response.
      const isPresigned = sent.output["presigned"] !== undefined;
      if (isPresigned || hasOwnForm(command, request.input, sent.output)) return sent;
      throw new UnreadableResponseError(`${command}: the response lacks what the API sends`, sent.output);
    };
  (client as CheckedClient).middlewareStack.add(middleware as never, {
    step: "initialize",
    priority: "high",
    name: "checkResponses",
  });
  return client;
}
