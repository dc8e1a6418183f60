import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string>>;

/** Reads a file of `NAME=value` lines. @returns no variables if the file does not exist */
export function readEnvironmentFile(file: string): Variables {
  try {
    return parseEnv(readFileSync(file, "utf8")) as Variables;
  } catch {
    return {};
  }
}

/** Writes a file of `NAME=value` lines for the command lines. Only this user may read it: it holds an API key. */
export function writeEnvironmentFile(file: string, variables: Variables): void {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, lines.join(""), { mode: 0o600 });
  chmodSync(file, 0o600);
}
