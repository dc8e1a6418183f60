import { chmodSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string>>;

/** Reads a file of `NAME=value` lines. @returns no variables if the file doesn't exist */
export function readEnvironmentFile(file: string): Variables {
  try {
    return parseEnv(readFileSync(file, "utf8")) as Variables;
  } catch {
    return {};
  }
}

/** Files in a data directory that say how to reach the local service. */
export interface LocalFiles {
  /** Its address and key, for callers. Safe to source in a shell: it doesn't replace your AWS settings. */
  readonly service: string;
  /** Its engines, tables and their credentials, for synthesis and the operator's commands. */
  readonly stack: string;
}

/** Paths of the files in a data directory. */
export function localFilesIn(dataDirectory: string): LocalFiles {
  return { service: join(dataDirectory, "env"), stack: join(dataDirectory, "stack.env") };
}

/** The files of the local service, for command lines. */
export function localFiles(variables: Readonly<NodeJS.Dict<string>> = process.env): LocalFiles {
  return localFilesIn(variables["DATA_DIR"] ?? ".local");
}

/**
 * Replaces a file of `NAME=value` lines as a whole, so that no command line reads half of it. Only this user may read it: it
 * contains an API key.
 */
export function writeEnvironmentFile(file: string, variables: Variables): void {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  const whole = `${file}.new`;
  writeFileSync(whole, lines.join(""), { mode: 0o600 });
  // A killed start may have left a file with another mode.
  chmodSync(whole, 0o600);
  renameSync(whole, file);
}
