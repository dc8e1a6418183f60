/** Why the local stack cannot start or go on, in one line for whoever typed the command. */
export class LocalStackError extends Error {
  override name = "LocalStackError";
}

/** The first line of what something else threw. */
export const reasonOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return message.trim().split("\n", 1)[0] ?? "";
};
