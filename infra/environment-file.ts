import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";

/** Variables by name. */
export type Variables = Readonly<Record<string, string>>;

/** @returns no variables where there is no file yet */
export const readEnvironmentFile = (file: string): Variables => {
  try {
    return parseEnv(readFileSync(file, "utf8")) as Variables;
  } catch {
    return {};
  }
};

/** Keeps them for the command lines; the API key among them is for this user's eyes alone. */
export const writeEnvironmentFile = (file: string, variables: Variables): void => {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, lines.join(""), { mode: 0o600 });
  chmodSync(file, 0o600);
};
