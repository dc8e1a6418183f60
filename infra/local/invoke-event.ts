import { readFileSync } from "node:fs";
import { LocalStackError, reasonOf } from "./local-stack-error.ts";

/** Placeholder of the API key in the samples in `events/`. */
const KEY_PLACEHOLDER = "${API_KEY}";

/**
 * Reads an event from a file, as JSON text.
 * @param key replaces `${API_KEY}` in the event's strings
 * @throws LocalStackError if the file cannot be read or is not JSON
 */
export function readEvent(file: string, key = KEY_PLACEHOLDER): string {
  const replaceKey = (_: string, value: unknown): unknown =>
    typeof value === "string" ? value.replaceAll(KEY_PLACEHOLDER, () => key) : value;
  try {
    return JSON.stringify(JSON.parse(readFileSync(file, "utf8"), replaceKey));
  } catch (error) {
    const reason = error instanceof SyntaxError ? "is not JSON" : "cannot be read";
    throw new LocalStackError(`${file} ${reason} (${reasonOf(error)}): name an event file, such as those in events/`);
  }
}
