import { MalformedRecordError } from "./store/decode-record.ts";

const FIRST_FRAME = "\n    at ";

/**
 * The name of an error and where it was thrown, for the log. Messages are left out, because JavaScript's may quote what was
 * parsed. Only a damaged record's message is logged: it names the key and attributes.
 */
export function traceOf(cause: unknown): {
  readonly reason: string;
  readonly trace?: string;
  readonly record?: string;
} {
  if (!(cause instanceof Error)) return { reason: typeof cause };
  const { name, message, stack = "" } = cause;
  const at = stack.indexOf(FIRST_FRAME);
  return {
    reason: name,
    ...(at >= 0 && { trace: stack.slice(at + 1) }),
    ...(cause instanceof MalformedRecordError && { record: message }),
  };
}
