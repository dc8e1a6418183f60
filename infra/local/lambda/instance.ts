import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { YOUNG_GENERATION_MB } from "../../constructs/function-memory.ts";
import type { FunctionError, InstanceData, InstanceResponse, InstanceRequest } from "./instance-messages.ts";

/** The most bytes of an event or a result (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html). */
export const PAYLOAD_MAX_BYTES = 6 * 1024 * 1024;
/** Time to load the code, apart from the function's timeout. Lambda allows 10 s; a busy machine may need longer. */
const INIT_TIMEOUT_MS = 30_000;
const THREAD = new URL("instance-thread.mjs", import.meta.url);

/** A function as the template describes it. */
export interface FunctionDefinition {
  readonly name: string;
  readonly arn: string;
  /** Directory of its code. */
  readonly directory: string;
  /** `<file>.<export>`, as in the template. */
  readonly handler: string;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  readonly environment: Readonly<Record<string, string>>;
  /** The most instances. Each handles one event at a time; further events wait. */
  readonly concurrency: number;
  /** Directory that keeps the compiled code of the functions, so that instances start faster. @default none */
  readonly compileCache?: string;
  /** File descriptor that gets one line for each unexpected error. @default none */
  readonly terminal?: number | undefined;
}

/** The outcome of an invocation: the result as JSON, or the error. */
export type Invocation =
  | { readonly ok: true; readonly payload: string }
  | { readonly ok: false; readonly error: FunctionError };

function failed(errorType: string, errorMessage: string): Invocation {
  return {
    ok: false,
    error: { errorType, errorMessage },
  };
}

function environmentOf({ name, memoryMb, handler, directory, environment }: FunctionDefinition) {
  return {
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
    AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
    AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
    AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
    LAMBDA_TASK_ROOT: directory,
    _HANDLER: handler,
    TZ: ":UTC",
    ...environment,
  };
}

/** The module that is loaded, and its export. */
export function codeOf({ directory, handler }: FunctionDefinition): Pick<InstanceData, "file" | "handlerName"> {
  const [file = "index", handlerName = "handler"] = handler.split(".");
  return { file: join(directory, `${file}.js`), handlerName };
}

function dataOf(definition: FunctionDefinition, log: readonly number[]): InstanceData {
  const { name, arn, memoryMb } = definition;
  return {
    ...codeOf(definition),
    compileCache: definition.compileCache,
    log,
    terminal: definition.terminal,
    context: {
      functionName: name,
      functionVersion: "$LATEST",
      invokedFunctionArn: arn,
      memoryLimitInMB: String(memoryMb),
      logGroupName: `/aws/lambda/${name}`,
      logStreamName: randomUUID(),
    },
  };
}

/** An instance of a function: a thread that loads the code once and handles one event at a time. */
export class LambdaInstance {
  readonly #definition: FunctionDefinition;
  readonly #worker: Worker;
  readonly #initialized = Promise.withResolvers<Invocation | undefined>();
  /** Why the instance has ended; undefined while it is alive. */
  #ended: Invocation | undefined;
  #finish: ((invocation: Invocation) => void) | undefined;

  /** @param log file descriptors that everything printed is written to; to be open for as long as the instance */
  constructor(definition: FunctionDefinition, log: readonly number[]) {
    this.#definition = definition;
    this.#worker = new Worker(THREAD, {
      name: definition.name,
      workerData: dataOf(definition, log),
      env: environmentOf(definition),
      execArgv: [],
      argv: [],
      // A worker thread ignores the limits in NODE_OPTIONS.
      resourceLimits: {
        maxOldGenerationSizeMb: definition.memoryMb,
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
      },
      // The instance itself writes to the log.
      stdout: true,
      stderr: true,
    });
    this.#worker.on("message", (message: InstanceResponse) => this.#receive(message));
    this.#worker.once("error", ({ name, message }: Error) => this.#end(failed(`Runtime.${name}`, message)));
    this.#worker.once("exit", (code) =>
      this.#end(failed("Runtime.ExitError", `the instance exited with code ${code}`)),
    );
    const initTimer = this.#endAfter(
      INIT_TIMEOUT_MS,
      failed("Sandbox.Timedout", `the function did not start within ${INIT_TIMEOUT_MS / 1000} s`),
    );
    void this.#initialized.promise.then(() => clearTimeout(initTimer));
  }

  isAlive(): boolean {
    return this.#ended === undefined;
  }

  /** Handles an event. The next one is to be handed over after this one. */
  async handle({ requestId, payload }: Omit<InstanceRequest, "deadline">): Promise<Invocation> {
    const failure = (await this.#initialized.promise) ?? this.#ended;
    if (failure !== undefined) return failure;
    const { timeoutSeconds } = this.#definition;
    const { promise, resolve } = Promise.withResolvers<Invocation>();
    this.#finish = resolve;
    const timer = this.#endAfter(
      timeoutSeconds * 1000,
      failed("Sandbox.Timedout", `${requestId} Task timed out after ${timeoutSeconds.toFixed(2)} seconds`),
    );
    const request: InstanceRequest = { requestId, payload, deadline: Date.now() + timeoutSeconds * 1000 };
    this.#worker.postMessage(request, []);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#finish = undefined;
    }
  }

  async stop(): Promise<void> {
    this.#end(failed("Runtime.ExitError", "the instance was stopped"));
    await this.#worker.terminate();
  }

  #receive(message: InstanceResponse): void {
    if (message.kind === "ready") this.#initialized.resolve(undefined);
    else if (message.kind === "init-error") this.#end({ ok: false, error: message.error });
    else if (message.kind === "error") this.#finish?.({ ok: false, error: message.error });
    else if (Buffer.byteLength(message.payload) <= PAYLOAD_MAX_BYTES) {
      this.#finish?.({ ok: true, payload: message.payload });
    } else this.#finish?.(failed("Function.ResponseSizeTooLarge", `a result is at most ${PAYLOAD_MAX_BYTES} bytes`));
  }

  /** The outcome of the event that is being handled, and of those that come later. */
  #end(outcome: Invocation): void {
    this.#ended = outcome;
    this.#initialized.resolve(outcome);
    this.#finish?.(outcome);
  }

  #endAfter(milliseconds: number, outcome: Invocation): NodeJS.Timeout {
    return setTimeout(() => {
      this.#end(outcome);
      void this.#worker.terminate();
    }, milliseconds);
  }
}
