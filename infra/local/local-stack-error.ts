/** Says in one line why the local stack cannot start or continue. */
export class LocalStackError extends Error {
  override name = "LocalStackError";
}

/** The first line of an error's message, or its code. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The error of a refused connection has a code and no message.
  const code = "code" in error ? String(error.code) : error.name;
  return error.message.trim().split("\n", 1)[0] || code;
}
