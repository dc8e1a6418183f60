import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";

/** The data that `lambda-function.ts` starts an instance with. */
export interface InstanceData {
  /** Module that exports the handler. */
  readonly file: string;
  readonly handlerName: string;
  readonly context: {
    readonly functionName: string;
    readonly functionVersion: string;
    readonly invokedFunctionArn: string;
    readonly memoryLimitInMB: string;
    readonly logGroupName: string;
    readonly logStreamName: string;
  };
}

/** One event for the instance. The next is sent after the response to this one. */
export interface InstanceRequest {
  readonly requestId: string;
  /** The event as JSON. */
  readonly payload: string;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
}

/** An error as Lambda reports it to the caller. */
export interface FunctionError {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
}

/** A message of the instance: its code is loaded or failed to load, or the outcome of an event. */
export type InstanceResponse =
  | { readonly kind: "ready" }
  | { readonly kind: "init-error"; readonly error: FunctionError }
  | { readonly kind: "result"; readonly payload: string }
  | { readonly kind: "error"; readonly error: FunctionError };

const toFunctionError = (thrown: unknown): FunctionError =>
  thrown instanceof Error
    ? { errorType: thrown.name, errorMessage: thrown.message, trace: (thrown.stack ?? "").split("\n") }
    : { errorType: typeof thrown, errorMessage: String(thrown) };

type Handler = (event: unknown, context: object) => unknown;

const load = ({ file, handlerName }: InstanceData): Handler => {
  const exported = createRequire(pathToFileURL(file))(file) as Record<string, unknown>;
  const handler = exported[handlerName];
  if (typeof handler !== "function") throw new TypeError(`${file} exports no function ${handlerName}`);
  return handler as Handler;
};

const respond = (message: InstanceResponse): void => parentPort?.postMessage(message, []);

/** Runs in the instance's thread: loads the code once, then handles one event after another. */
const run = (data: InstanceData): void => {
  let handler: Handler;
  try {
    handler = load(data);
  } catch (error) {
    respond({ kind: "init-error", error: toFunctionError(error) });
    return;
  }
  const handle = async ({ requestId, payload, deadline }: InstanceRequest): Promise<void> => {
    const context = {
      ...data.context,
      awsRequestId: requestId,
      callbackWaitsForEmptyEventLoop: true,
      getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    };
    try {
      const result = await handler(JSON.parse(payload), context);
      respond({ kind: "result", payload: JSON.stringify(result) ?? "null" });
    } catch (error) {
      respond({ kind: "error", error: toFunctionError(error) });
    }
  };
  parentPort?.on("message", (request: InstanceRequest) => void handle(request));
  respond({ kind: "ready" });
};

run(workerData as InstanceData);
