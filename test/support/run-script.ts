import { execFile } from "node:child_process";
import { join } from "node:path";
import { childEnvironment } from "./child-environment.ts";

interface ScriptResult {
  /** Null if a signal ended it. */
  readonly status: number | null;
  readonly out: string;
  readonly error: string;
}

/**
 * Runs a file of the project as the npm scripts do.
 * @param file its path from the project's root
 * @param options variables beside those of `childEnvironment`, what it reads, and the directory if it isn't the root
 */
export const runScript = (
  file: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly input?: string; readonly cwd?: string } = {},
): Promise<ScriptResult> =>
  new Promise((resolve) => {
    const { env, input, cwd } = options;
    const child = execFile(
      process.execPath,
      [join(import.meta.dirname, "../..", file), ...args],
      { cwd, env: { ...childEnvironment(), ...env } },
      (_, out, error) => resolve({ status: child.exitCode, out, error: error.trim() }),
    );
    child.stdin?.end(input);
  });
