import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

/** Path of the file in a data directory in which the local service names its address, key and tables. */
export function environmentFileOf(dataDirectory: string): string {
  return join(dataDirectory, "env");
}

/** The file of the local service that a command line finds. */
export function localServiceFile(variables: Readonly<NodeJS.Dict<string>> = process.env): string {
  return environmentFileOf(variables["DATA_DIR"] ?? ".local");
}

/** Writes a file of `NAME=value` lines for the command lines. Only this user may read it: it holds an API key. */
export function writeEnvironmentFile(file: string, variables: Variables): void {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, lines.join(""), { mode: 0o600 });
  chmodSync(file, 0o600);
}
