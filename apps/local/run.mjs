/**
 * `node apps/local/run.mjs <file> …` runs a program of this project for the npm scripts. First it installs missing packages of
 * package-lock.json; without a file it does only that. Plain JavaScript without dependencies, since any version of Node may run
 * it in a fresh clone.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { runMain } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const NODE_MAJOR = 24;
const PARENT_CHECK_MS = 200;
const root = fileURLToPath(new URL("../..", import.meta.url));

function packagesOf(/** @type {string} */ file) {
  try {
    return JSON.parse(readFileSync(`${root}/${file}`, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** Whether every required package is installed in its version of package-lock.json. */
function isInstalled() {
  const installed = packagesOf("node_modules/.package-lock.json");
  if (installed === undefined) return false;
  return Object.entries(packagesOf("package-lock.json") ?? {}).every(
    ([path, { version, optional }]) =>
      path === "" || optional || (path in installed && installed[path].version === version),
  );
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
    process.exit(1);
  }
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

if (!isInstalled()) install();
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
