import { once } from "node:events";
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeOldSyntheses } from "../../../infra/local/synthesis.ts";
import { childEnvironment } from "../../support/child-environment.ts";
import { temporaryDirectory } from "./written-functions.ts";

/** A cache with syntheses that were used one second after another, each by the given process or by none. */
const cacheOf = (users: readonly (number | undefined)[]): string => {
  const cache = temporaryDirectory();
  for (const [index, pid] of users.entries()) {
    const directory = join(cache, `synthesis-${index}`);
    mkdirSync(join(directory, "users"), { recursive: true });
    if (pid !== undefined) writeFileSync(join(directory, "users", String(pid)), "");
    utimesSync(directory, index + 1, index + 1);
  }
  return cache;
};

/** A process that waits, and one that has ended. */
const processes = async () => {
  const start = () => spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { env: childEnvironment() });
  const [running, ended] = [start(), start()];
  onTestFinished(() => void running.kill("SIGKILL"));
  ended.kill("SIGKILL");
  await once(ended, "exit");
  return { running: running.pid!, ended: ended.pid! };
};

test("keeps the three syntheses that were used last, however many edits made one", async () => {
  const { ended } = await processes();
  const cache = cacheOf(Array.from({ length: 10 }, () => ended));
  await removeOldSyntheses(cache);
  expect(readdirSync(cache)).toEqual(["synthesis-7", "synthesis-8", "synthesis-9"]);
});

test("keeps an older synthesis while a process runs that uses it", async () => {
  const { running, ended } = await processes();
  const cache = cacheOf([ended, running, undefined, ended, ended, ended]);
  await removeOldSyntheses(cache);
  expect(readdirSync(cache)).toEqual(["synthesis-1", "synthesis-3", "synthesis-4", "synthesis-5"]);
});
