import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const PEERS = new URL("peers/", import.meta.url);
/** npm writes it at the end of an installation. */
const INSTALLED = new URL("node_modules/.package-lock.json", PEERS);

/** Loads a package of peers/package.json. npm installs all of them when a bench first needs one. */
export const requirePeer = (name: string): unknown => {
  if (!existsSync(INSTALLED)) {
    console.error("Installing the packages of test/bench/peers …");
    execFileSync("npm", ["ci"], { cwd: fileURLToPath(PEERS), stdio: ["ignore", "ignore", "inherit"] });
  }
  return createRequire(PEERS)(name);
};
