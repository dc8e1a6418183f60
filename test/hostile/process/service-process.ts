import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { readEnvironmentFile } from "../../../infra/terminal/environment-file.ts";
import { childEnvironment } from "../../support/child-environment.ts";

const START = fileURLToPath(new URL("../../../apps/local/start.ts", import.meta.url));
const HOSTILE = fileURLToPath(new URL("start.ts", import.meta.url));

/** The whole service as a process of its own, as `npm start` runs it. */
export interface ServiceProcess {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Ends it without warning; with its engines, or so that they notice it themselves. */
  readonly kill: (engines: "with its engines" | "alone") => Promise<void>;
  /** Ends it as Ctrl-C does. */
  readonly stop: () => Promise<void>;
}

const endOf = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
};

/**
 * Starts a script that runs the whole service, as a process of its own.
 * @param args the script and its arguments
 * @param environmentFile where it writes its address and key
 * @throws Error if it does not become ready
 */
const startServiceProcess = async (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  environmentFile: string,
): Promise<ServiceProcess> => {
  const child = spawn(process.execPath, args, {
    env,
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
  const { BASE_URL: baseUrl = "", API_KEY: apiKey = "" } = readEnvironmentFile(environmentFile);
  const signal = async (target: number, name: NodeJS.Signals): Promise<void> => {
    process.kill(target, name);
    await endOf(child);
  };
  return {
    baseUrl,
    apiKey,
    kill: (engines) => signal(engines === "alone" ? pid : -pid, "SIGKILL"),
    stop: () => signal(pid, "SIGTERM"),
  };
};

/**
 * Starts the service on a free port.
 * @param hostileSeed lets requests to the engines fail, by this seed. @default they don't
 * @throws Error if it does not become ready
 */
export const startService = (directory: string, hostileSeed?: number): Promise<ServiceProcess> =>
  startServiceProcess(
    [hostileSeed === undefined ? START : HOSTILE],
    {
      ...childEnvironment(),
      DATA_DIR: directory,
      PORT: "0",
      ...(hostileSeed !== undefined && { HOSTILE_SEED: String(hostileSeed) }),
    },
    join(directory, "env"),
  );
