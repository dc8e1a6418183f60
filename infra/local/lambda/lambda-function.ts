import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { YOUNG_GENERATION_MB } from "../../constructs/function-memory.ts";
import type { FunctionError, InstanceData, InstanceResponse, InstanceRequest } from "./instance-messages.ts";
import { writeFunctionLog } from "./function-log.mjs";

/** The most bytes of an event or a result (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html). */
export const PAYLOAD_MAX_BYTES = 6 * 1024 * 1024;
/** Time to load the code, apart from the function's timeout. Lambda allows 10 s; a busy machine may need longer. */
const INIT_TIMEOUT_MS = 30_000;
/** How long a function waits for events. Then all instances but one end, as Lambda ends them later. */
const IDLE_MS = 5000;
const INSTANCE = new URL("lambda-instance.mjs", import.meta.url);

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
type Invocation =
  | { readonly ok: true; readonly payload: string }
  | { readonly ok: false; readonly error: FunctionError };

/** A function with its instances. */
export interface LambdaFunction {
  readonly name: string;
  /**
   * @param payload the event as JSON
   * @throws PayloadTooLargeError
   */
  invoke(payload: string, requestId?: string): Promise<Invocation>;
  /** Ends every instance at once, busy or not. */
  stop(): Promise<void>;
}

/** The event is larger than Lambda accepts. */
export class PayloadTooLargeError extends Error {}

function failed(errorType: string, errorMessage: string): Invocation {
  return {
    ok: false,
    error: { errorType, errorMessage },
  };
}

interface Instance {
  handle(request: Omit<InstanceRequest, "deadline">): Promise<Invocation>;
  readonly isAlive: () => boolean;
  stop(): Promise<void>;
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

function codeOf({ directory, handler }: FunctionDefinition): Pick<InstanceData, "file" | "handlerName"> {
  const [file = "index", handlerName = "handler"] = handler.split(".");
  return { file: join(directory, `${file}.js`), handlerName };
}

function startInstance(definition: FunctionDefinition, log: readonly number[]): Instance {
  const { name, arn, memoryMb, timeoutSeconds } = definition;
  const data: InstanceData = {
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
  const worker = new Worker(INSTANCE, {
    name,
    workerData: data,
    env: environmentOf(definition),
    execArgv: [],
    argv: [],
    // A worker thread ignores the limits in NODE_OPTIONS.
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    // The instance itself writes to the log.
    stdout: true,
    stderr: true,
  });

  let alive = true;
  let finish: ((invocation: Invocation) => void) | undefined;
  let ended = failed("Runtime.ExitError", "the instance has ended");
  const initialized = Promise.withResolvers<Invocation | undefined>();
  const end = (outcome: Invocation): void => {
    alive = false;
    ended = outcome;
    initialized.resolve(outcome);
    finish?.(outcome);
  };
  const stop = async (): Promise<void> => {
    end(failed("Runtime.ExitError", "the instance was stopped"));
    await worker.terminate();
  };
  const endAfter = (milliseconds: number, outcome: Invocation): NodeJS.Timeout =>
    setTimeout(() => {
      end(outcome);
      void worker.terminate();
    }, milliseconds);

  worker.on("message", (message: InstanceResponse) => {
    if (message.kind === "ready") initialized.resolve(undefined);
    else if (message.kind === "init-error") end({ ok: false, error: message.error });
    else if (message.kind === "error") finish?.({ ok: false, error: message.error });
    else if (Buffer.byteLength(message.payload) <= PAYLOAD_MAX_BYTES) finish?.({ ok: true, payload: message.payload });
    else finish?.(failed("Function.ResponseSizeTooLarge", `a result is at most ${PAYLOAD_MAX_BYTES} bytes`));
  });
  worker.once("error", (error: Error) => end(failed(`Runtime.${error.name}`, error.message)));
  worker.once("exit", (code) => end(failed("Runtime.ExitError", `the instance exited with code ${code}`)));
  const initTimer = endAfter(
    INIT_TIMEOUT_MS,
    failed("Sandbox.Timedout", `the function did not start within ${INIT_TIMEOUT_MS / 1000} s`),
  );
  void initialized.promise.then(() => clearTimeout(initTimer));

  return {
    isAlive: () => alive,
    stop,
    handle: async ({ requestId, payload }) => {
      const failure = await initialized.promise;
      if (failure !== undefined) return failure;
      if (!alive) return ended;
      const { promise, resolve } = Promise.withResolvers<Invocation>();
      finish = resolve;
      const timer = endAfter(
        timeoutSeconds * 1000,
        failed("Sandbox.Timedout", `${requestId} Task timed out after ${timeoutSeconds.toFixed(2)} seconds`),
      );
      const request: InstanceRequest = { requestId, payload, deadline: Date.now() + timeoutSeconds * 1000 };
      worker.postMessage(request, []);
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        finish = undefined;
      }
    },
  };
}

/**
 * Runs a function as Lambda does: with its own environment, one event at a time in an instance, limits of memory and
 * time that end the instance. An instance is started when none is idle, and kept for the next event.
 * @param log file descriptors that everything printed is written to; to be open for as long as the function
 */
export function createLambdaFunction(
  definition: FunctionDefinition,
  log: readonly number[],
  idleMs = IDLE_MS,
): LambdaFunction {
  const instances = new Set<Instance>();
  const idle: Instance[] = [];
  const waiting: ((instance: Instance) => void)[] = [];
  let lastEventAt = 0;
  let reducing = false;

  const start = (): Instance => {
    const instance = startInstance(definition, log);
    instances.add(instance);
    return instance;
  };
  /** Ends all idle instances but one. */
  const reduce = (): void => {
    reducing = false;
    if (Date.now() < lastEventAt + idleMs) reduceLater();
    else {
      for (const instance of idle.splice(1)) {
        instances.delete(instance);
        void instance.stop();
      }
    }
  };
  const reduceLater = (): void => {
    if (reducing) return;
    reducing = true;
    setTimeout(reduce, idleMs).unref();
  };
  const acquire = (): Instance | Promise<Instance> => {
    for (let instance = idle.pop(); instance !== undefined; instance = idle.pop()) {
      if (instance.isAlive()) return instance;
      instances.delete(instance);
    }
    if (instances.size < definition.concurrency) return start();
    return new Promise((resolve) => waiting.push(resolve));
  };
  const release = (instance: Instance): void => {
    if (!instance.isAlive()) instances.delete(instance);
    const next = waiting.shift();
    if (next !== undefined) next(instance.isAlive() ? instance : start());
    else if (instance.isAlive()) {
      idle.push(instance);
      lastEventAt = Date.now();
      reduceLater();
    }
  };
  const report = ({ errorType, errorMessage, trace }: FunctionError, requestId: string): void => {
    const line = { level: "ERROR", function: definition.name, requestId, errorType, errorMessage, trace };
    const { name: functionName, terminal } = definition;
    writeFunctionLog({ log, terminal, file: codeOf(definition).file, functionName }, `${JSON.stringify(line)}\n`);
  };

  return {
    name: definition.name,
    invoke: async (payload, requestId = randomUUID()) => {
      if (Buffer.byteLength(payload) > PAYLOAD_MAX_BYTES) {
        throw new PayloadTooLargeError(`an event is at most ${PAYLOAD_MAX_BYTES} bytes`);
      }
      const instance = await acquire();
      try {
        const invocation = await instance.handle({ requestId, payload });
        if (!invocation.ok) report(invocation.error, requestId);
        return invocation;
      } finally {
        release(instance);
      }
    },
    stop: async () => {
      await Promise.all([...instances].map((instance) => instance.stop()));
    },
  };
}
