import { UnreadableResponseError } from "./error-codes.ts";

/** What the check needs of a client: the part of the SDK's middleware stack that sees each command and its output. */
interface CheckedClient {
  readonly middlewareStack: {
    add(middleware: never, options: { step: "initialize"; priority: "high"; name: string }): void;
  };
}

type Members = Readonly<Record<string, unknown>>;
type Send = (request: { readonly input: Members }) => Promise<{ readonly output: Members }>;

/**
 * By command: the members that every response of the API has, for some commands depending on the request. SendMessage
 * needs none: the SDK compares the hash of its message.
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

/** Names of errors that the SDK throws if it cannot read a response: those of JavaScript, or no code of the API. */
const UNREADABLE = new Set(["Error", "RangeError", "SyntaxError", "TypeError", "Unknown", "UnknownError"]);

interface Failure extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
}

/** Whether an error is not one of the API's own. @param command that failed */
function isUnreadable(error: unknown, command: string): boolean {
  if (!(error instanceof Error)) return false;
  const { name, message, $metadata } = error as Failure;
  // The SDK compares the hash of a message outside of its retries, and so without metadata.
  if ($metadata === undefined) return message === "InvalidChecksumError";
  // To HEAD requests S3 responds without a body. Elsewhere this is the SDK's name for any 404 whose body has no code.
  if (name === "NotFound") return !command.startsWith("Head") || $metadata.requestId === undefined;
  return UNREADABLE.has(name);
}

/**
 * Makes a client throw an `UnreadableResponseError` for each response that does not have the form of the API, whatever the
 * SDK makes of it: an error of its parser, or an output in which everything is absent.
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
