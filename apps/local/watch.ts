import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type FSWatcher, readdirSync, watch } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const START = fileURLToPath(new URL("start.ts", import.meta.url));
const WATCHED = ["apps", "docs", "functions", "infra", "lib"];
/** Other files belong to editors. */
const SOURCE = /\.(ts|tsx|mjs|json|md|html|css)$/;
/** Editors save a file in several steps. */
const SETTLE_MS = 50;

/**
 * Runs the service in a process that is restarted whenever a source changes. Watches directories, since `node --watch`, which
 * watches files, misses the second change of a file that an editor replaces.
 */
export function watchSources(): { readonly stop: () => Promise<void> } {
  let child: ChildProcess | undefined;
  let watchers: readonly FSWatcher[] = [];
  let restarting: Promise<void> | undefined;
  let changed: string | undefined;

  const end = async (): Promise<void> => {
    if (child?.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  const start = (): void => {
    const ignored = new Set(["node_modules", ".cache"]);
    const directories = WATCHED.flatMap((top) => [
      top,
      ...readdirSync(join(ROOT, top), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !ignored.has(entry.name))
        .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length)),
    ]);
    for (const watcher of watchers) watcher.close();
    watchers = directories.map((directory) =>
      watch(join(ROOT, directory), (_, file) => {
        if (file === null || !SOURCE.test(file)) return;
        changed = join(directory, file);
        restarting ??= restart();
      }),
    );
    child = spawn(process.execPath, [START], { stdio: "inherit" });
  };
  /** Restarts, and again if something has changed in the meantime. */
  const restart = async (): Promise<void> => {
    while (changed !== undefined) {
      await sleep(SETTLE_MS);
      console.log(`${changed} changed`);
      changed = undefined;
      await end();
      start();
    }
    restarting = undefined;
  };
  start();
  return {
    stop: async () => {
      for (const watcher of watchers) watcher.close();
      await restarting;
      await end();
    },
  };
}
