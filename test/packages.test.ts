import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { manifestOf, workspaces } from "./support/manifests.ts";

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      inBundle: z.boolean().optional(),
      integrity: z.string().optional(),
      license: z.string().optional(),
      link: z.boolean().optional(),
      optionalDependencies: z.record(z.string(), z.string()).optional(),
      resolved: z.string().optional(),
    }),
  ),
});

test("every script installs the packages first, so that it works in a fresh clone", () => {
  const others = manifestOf(".").scripts;
  expect(Object.keys(others)).toEqual(expect.arrayContaining(["start", "test", "check", "synth", "keys"]));
  const installs = /^(\w+=\S+ )*(exec )?node apps\/local\/run\.mjs /;
  expect(Object.entries(others).filter(([, command]) => !installs.test(command))).toEqual([]);
  // A shell remembers where it found a program: another "node" would still be the host's own.
  expect(
    Object.entries(others).filter(([, command]) => /(?:^|\s)node (?!apps\/local\/run\.mjs )/.test(command)),
  ).toEqual([]);
});

const lock = readFileSync(new URL("../package-lock.json", import.meta.url), "utf8");
const { packages } = lockSchema.parse(JSON.parse(lock));

// npm leaves out the packages of other platforms where it adds a dependency to an installed checkout,
// and `npm ci` then refuses the lock on a new machine.
test("package-lock.json names the packages of every platform, so that npm ci installs on each", () => {
  const missing = Object.entries(packages).flatMap(([path, entry]) =>
    path === "" || entry.inBundle
      ? []
      : Object.keys(entry.optionalDependencies ?? {}).filter(
          (name) =>
            packages[`node_modules/${name}`] === undefined && packages[`${path}/node_modules/${name}`] === undefined,
        ),
  );
  expect(missing).toEqual([]);
});

test("package-lock.json names no registry", () => {
  const resolved = Object.values(packages).flatMap((entry) => (entry.link ? [] : (entry.resolved ?? [])));
  expect(resolved).toEqual([]);
});

/**
 * Licences that packages may have: none asks for more than to keep notices. MPL-2.0 is for tools, and CC-BY-4.0 for their
 * data, whose code isn't deployed.
 */
const LICENCES = [
  "0BSD",
  "Apache-2.0",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC-BY-4.0",
  "ISC",
  "MIT",
  "MIT-0",
  "MPL-2.0",
  "Unlicense",
  "(MIT OR Apache-2.0)",
  "(MIT OR GPL-3.0-or-later)",
];

test("every package has a checksum and a licence that we know", () => {
  const installed = Object.entries(packages).filter(
    ([path, entry]) => path.includes("node_modules/") && !entry.link && !entry.inBundle,
  );
  expect(installed.length).toBeGreaterThan(200);
  expect(installed.filter(([, { integrity }]) => !integrity?.startsWith("sha512-")).map(([path]) => path)).toEqual([]);
  const others = installed.filter(([, { license }]) => !LICENCES.includes(license ?? ""));
  expect(others.map(([path, { license }]) => [path, license])).toEqual([]);
});

test("all workspaces name the same version of a package, so that it is installed once", () => {
  const named = [".", ...workspaces].flatMap((each) => Object.entries(manifestOf(each).dependencies));
  const versions = Map.groupBy(named, ([name]) => name);
  expect([...versions.values()].filter((all) => new Set(all.map(([, version]) => version)).size > 1)).toEqual([]);
});
