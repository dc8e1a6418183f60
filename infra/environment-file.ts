import { chmodSync, readFileSync, renameSync, writeFileSync } from "node:fs";
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

/** Files in a data directory in which the local service says how to reach it. */
export interface LocalFiles {
  /** Its address and key: what a caller needs. Shells can source it: it doesn't replace your AWS settings. */
  readonly service: string;
  /** Its engines, tables and their credentials: what synthesis and the operator's commands need. */
  readonly stack: string;
}

/** Paths of the files in a data directory. */
export function localFilesIn(dataDirectory: string): LocalFiles {
  return { service: join(dataDirectory, "env"), stack: join(dataDirectory, "stack.env") };
}

/** The files of the local service that a command line finds. */
export function localFiles(variables: Readonly<NodeJS.Dict<string>> = process.env): LocalFiles {
  return localFilesIn(variables["DATA_DIR"] ?? ".local");
}

/**
 * Writes a file of `NAME=value` lines for the command lines, which find all of the lines before or all of these. Only this
 * user may read it: it holds an API key.
 */
export function writeEnvironmentFile(file: string, variables: Variables): void {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  const whole = `${file}.new`;
  writeFileSync(whole, lines.join(""), { mode: 0o600 });
  // One that a start has left which was killed may have another mode.
  chmodSync(whole, 0o600);
  renameSync(whole, file);
}
