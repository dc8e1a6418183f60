/** Why the local stack cannot start or go on, in one line for whoever typed the command. */
export class LocalStackError extends Error {
  override name = "LocalStackError";
}

/** The first line of what something else threw. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  // A connection that is refused has a code and no message.
  const code = "code" in error ? String(error.code) : error.name;
  return error.message.trim().split("\n", 1)[0] || code;
};
