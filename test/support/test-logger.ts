import { Logger } from "@aws-lambda-powertools/logger";
import type { LogItemExtraInput, LogItemMessage } from "@aws-lambda-powertools/logger/types";

interface LoggedError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
}

let cause: LoggedError | undefined;

/** A function's logger that keeps the error of the last response with status 500. */
export class TestLogger extends Logger {
  override error(message: LogItemMessage, ...values: LogItemExtraInput): void {
    const [{ status, error } = {}] = values as readonly { readonly status?: number; readonly error?: LoggedError }[];
    if (status === 500) cause = error;
    super.error(message, ...values);
  }
}

/** Takes the error of the last response with status 500, if there was one. */
export function takeCause(): Error | undefined {
  const taken = cause;
  cause = undefined;
  return taken && Object.assign(new Error(), { ...taken, message: `a response had status 500: ${taken.message}` });
}
