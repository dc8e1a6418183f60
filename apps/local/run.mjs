/**
 * `node apps/local/run.mjs <file> …` runs a program of this project for the npm scripts. First it installs missing packages of
 * package-lock.json; without a file it does only that. Plain JavaScript without dependencies, since any version of Node may run
 * it in a fresh clone.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, readlinkSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { runMain } from "node:module";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const NODE_MAJOR = 24;
const PARENT_CHECK_MS = 200;
const LOCK_CHECK_MS = 200;
const root = fileURLToPath(new URL("../..", import.meta.url));

/** A link to the id of the process that installs packages: unlike a file, it is made with its content. */
const LOCK = `${root}.installing`;

function packagesOf(/** @type {string} */ file) {
  try {
    return JSON.parse(readFileSync(`${root}/${file}`, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** The packages of package-lock.json, by their folders. */
const wanted = packagesOf("package-lock.json") ?? {};

/** Whether every required package is installed in its version of package-lock.json. */
function isInstalled() {
  const installed = packagesOf("node_modules/.package-lock.json");
  if (installed === undefined) return false;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === "" || optional || (path in installed && installed[path].version === version),
  );
}

/** The process that has the lock; undefined if none has, or it has ended. */
function lockOwner() {
  let pid;
  try {
    pid = readlinkSync(LOCK);
    process.kill(Number(pid), 0);
    return pid;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM" ? pid : undefined;
  }
}

/** Waits until this process has the lock. Two installations at once would leave a folder that lacks packages. */
async function lock() {
  const own = String(process.pid);
  for (let owner = lockOwner(), named; owner !== own; owner = lockOwner()) {
    if (owner === undefined) {
      rmSync(LOCK, { force: true });
      try {
        symlinkSync(own, LOCK);
      } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
      }
    } else if (owner !== named) {
      console.error(`Process ${owner} is installing the packages (${LOCK}): waiting for it …`);
      named = owner;
    }
    // Another may have found no owner at the same time, and have replaced this process's lock.
    await sleep(LOCK_CHECK_MS);
  }
}

function install() {
  console.error("Installing the packages that package-lock.json names: this takes a minute or two …");
  const npm = process.env["npm_execpath"];
  const command = npm === undefined ? ["npm"] : [process.execPath, npm];
  const { status } = spawnSync(command[0], [...command.slice(1), "ci", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (status !== 0) {
    console.error("npm ci failed: see above");
    rmSync(LOCK);
    process.exit(1);
  }
}

/** Names the packages for this kind of machine that npm has left out: one that can't be fetched is no error for it. */
function nameMissing() {
  const missing = Object.entries(wanted).filter(
    ([path, { optional, os, cpu, libc }]) =>
      optional &&
      os?.includes(process.platform) &&
      cpu?.includes(process.arch) &&
      libc === undefined &&
      !existsSync(root + path),
  );
  if (missing.length === 0) return;
  const names = missing.map(([path]) => path.replace("node_modules/", "")).join(", ");
  console.error(`${root}node_modules lacks ${names}: remove this folder and run the command again`);
}

/** The Node in node_modules, or else the one that runs this. */
function projectNode() {
  const installed = `${root}/node_modules/.bin/node`;
  if (existsSync(installed)) return realpathSync(installed);
  if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR) return process.execPath;
  console.error(`Node ${NODE_MAJOR} or later is needed here; this is ${process.version}`);
  return process.exit(1);
}

/** Ends a process after npm was killed with -9. Otherwise a service would keep its port without a visible owner. */
function endWithNpm(/** @type {number} */ pid) {
  if (process.env["npm_lifecycle_event"] === undefined) return;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    process.kill(pid, "SIGTERM");
  }, PARENT_CHECK_MS).unref();
}

/** Runs a program with another Node. It wasn't in npm's PATH when npm started this. */
function runBy(/** @type {string} */ node, /** @type {string[]} */ args) {
  const child = spawn(node, args, { stdio: "inherit" });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => child.kill(signal));
  }
  child.once("exit", (status) => process.exit(status ?? 1));
  endWithNpm(child.pid ?? 0);
}

if (!isInstalled()) {
  await lock();
  if (!isInstalled()) install();
  rmSync(LOCK);
}
nameMissing();
const node = projectNode();
const [, , file, ...args] = process.argv;
if (file !== undefined) {
  const program = resolve(root, file);
  if (node === process.execPath) {
    process.argv = [node, program, ...args];
    endWithNpm(process.pid);
    // Runs the program as the main module; an import would leave import.meta.main false.
    runMain();
  } else runBy(node, [program, ...args]);
}
