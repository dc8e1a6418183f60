import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";

/** What `lambda-function.ts` starts an instance with. */
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

/** One event for the instance; the next comes when this one is answered. */
export interface InstanceRequest {
  readonly requestId: string;
  /** JSON. */
  readonly payload: string;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
}

export interface FunctionError {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
}

export type InstanceReply =
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

const reply = (message: InstanceReply): void => parentPort?.postMessage(message, []);

/** The inside of one Lambda instance: loads the code once, then answers one event after another. */
const run = (data: InstanceData): void => {
  let handler: Handler;
  try {
    handler = load(data);
  } catch (error) {
    reply({ kind: "init-error", error: toFunctionError(error) });
    return;
  }
  const answer = async ({ requestId, payload, deadline }: InstanceRequest): Promise<void> => {
    const context = {
      ...data.context,
      awsRequestId: requestId,
      callbackWaitsForEmptyEventLoop: true,
      getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    };
    try {
      const result = await handler(JSON.parse(payload), context);
      reply({ kind: "result", payload: JSON.stringify(result) ?? "null" });
    } catch (error) {
      reply({ kind: "error", error: toFunctionError(error) });
    }
  };
  parentPort?.on("message", (request: InstanceRequest) => void answer(request));
  reply({ kind: "ready" });
};

run(workerData as InstanceData);
