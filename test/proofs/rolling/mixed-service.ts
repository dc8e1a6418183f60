import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { readEnvironmentFile, type Variables } from "../../../infra/environment-file.ts";
import type { Synthesis } from "../../../infra/local/synthesis.ts";
import { childEnvironment } from "../../support/child-environment.ts";
import type { ServiceProcess } from "../service-process.ts";
import type { Side } from "./mixed-functions.ts";

const SCRIPT = fileURLToPath(new URL("start-mixed.ts", import.meta.url));

/** What the process of a service of two versions reads at its start. */
export interface MixedSettings {
  readonly older: Synthesis;
  readonly newer: Synthesis;
  readonly dataDirectory: string;
  /** A file that gets a line with the side of each invocation. */
  readonly served: string;
  readonly seed: number;
}

const servedFile = (directory: string): string => join(directory, "served");

/** How many invocations each version has served, also in processes that were killed. */
export function countServed(directory: string): Readonly<Record<Side, number>> {
  const file = servedFile(directory);
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  const count = (side: Side): number => lines.filter((line) => line === side).length;
  return { older: count("older"), newer: count("newer") };
}

/** Variables that name the tables, the bucket and the queues of a service, as an operator's command reads them. */
export const variablesOf = (directory: string): Variables => readEnvironmentFile(join(directory, "data", "env"));

const endOf = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
};

/**
 * Starts a service whose invocations are served by two versions at random, as a process of its own.
 * @param directory keeps the data of several starts
 * @throws Error if it does not become ready
 */
export async function startMixedService(
  directory: string,
  sides: Pick<MixedSettings, Side>,
  seed: number,
): Promise<ServiceProcess> {
  const settings = join(directory, "settings.json");
  const dataDirectory = join(directory, "data");
  const given: MixedSettings = { ...sides, dataDirectory, served: servedFile(directory), seed };
  writeFileSync(settings, JSON.stringify(given));
  const child = spawn(process.execPath, [SCRIPT, settings], {
    env: { ...childEnvironment(), MALLOC_ARENA_MAX: "2" },
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own, which can be killed as a whole.
    detached: true,
  });
  const complaint = text(child.stderr);
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    if (/^ready$/m.test(printed)) break;
  }
  const { pid } = child;
  if (!/^ready$/m.test(printed) || pid === undefined) throw new Error(`the service did not start: ${await complaint}`);
  child.stdout.resume();
  const { BASE_URL: baseUrl = "", API_KEY: apiKey = "" } = variablesOf(directory);
  const signal = async (target: number, name: NodeJS.Signals): Promise<void> => {
    process.kill(target, name);
    await endOf(child);
  };
  return {
    baseUrl,
    apiKey,
    pid,
    kill: (engines) => signal(engines === "alone" ? pid : -pid, "SIGKILL"),
    stop: () => signal(pid, "SIGTERM"),
  };
}
