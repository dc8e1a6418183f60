/** The data that `instance.ts` starts an instance with. */
export interface InstanceData {
  /** Module that exports the handler. */
  readonly file: string;
  readonly handlerName: string;
  /** Directory that keeps the compiled code for the next instance. @default none */
  readonly compileCache: string | undefined;
  /** File descriptors of the log. */
  readonly log: readonly number[];
  /** File descriptor that gets one line for each unexpected error. @default none */
  readonly terminal: number | undefined;
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
