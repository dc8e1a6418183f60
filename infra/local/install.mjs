/**
 * Runs before the npm scripts: installs the packages in package-lock.json if they are not installed yet.
 * Plain JavaScript without dependencies: in a fresh clone the host's own Node runs it, in any version.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const NODE_MAJOR = 24;
const root = fileURLToPath(new URL("../..", import.meta.url));

function packagesOf(/** @type {string} */ file) {
  try {
    return JSON.parse(readFileSync(`${root}/${file}`, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** Whether every required package is installed in the version that package-lock.json names. */
function isInstalled() {
  const installed = packagesOf("node_modules/.package-lock.json");
  if (installed === undefined) return false;
  return Object.entries(packagesOf("package-lock.json") ?? {}).every(
    ([path, { version, optional }]) => path === "" || optional || installed[path]?.version === version,
  );
}

if (!isInstalled()) {
  console.error("Installing the packages that package-lock.json names …");
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

if (!existsSync(`${root}/node_modules/.bin/node`) && Number.parseInt(process.versions.node, 10) < NODE_MAJOR) {
  console.error(`Node ${NODE_MAJOR} or later is needed here; this is ${process.version}`);
  process.exit(1);
}
