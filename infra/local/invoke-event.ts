import { readFileSync } from "node:fs";
import { LocalStackError, reasonOf } from "./local-stack-error.ts";

/** What the samples in `events/` hold in the place of a key. */
const KEY_PLACEHOLDER = "${API_KEY}";

/**
 * The event in a file as JSON.
 * @param key takes the place of `${API_KEY}`
 * @throws LocalStackError where the file cannot be read or is not JSON
 */
export const readEvent = (file: string, key = KEY_PLACEHOLDER): string => {
  const fillIn = (_: string, value: unknown): unknown =>
    typeof value === "string" ? value.replaceAll(KEY_PLACEHOLDER, () => key) : value;
  try {
    return JSON.stringify(JSON.parse(readFileSync(file, "utf8"), fillIn));
  } catch (error) {
    const reason = error instanceof SyntaxError ? "is not JSON" : "cannot be read";
    throw new LocalStackError(`${file} ${reason} (${reasonOf(error)}): name an event file, such as those in events/`);
  }
};
