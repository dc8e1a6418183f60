import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      inBundle: z.boolean().optional(),
      optionalDependencies: z.record(z.string(), z.string()).optional(),
      resolved: z.string().optional(),
    }),
  ),
});

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")));

test("every script installs the packages first, so that it works in a fresh clone", () => {
  const { prepack: _, ...others } = scripts;
  expect(Object.keys(others)).toEqual(expect.arrayContaining(["start", "test", "check", "synth", "keys", "demo"]));
  const installs = /^(\w+=\S+ )*(exec )?node infra\/local\/run\.mjs /;
  expect(Object.entries(others).filter(([, command]) => !installs.test(command))).toEqual([]);
  // A shell remembers where it found a program: another "node" would still be the host's own.
  expect(
    Object.entries(others).filter(([, command]) => /(?:^|\s)node (?!infra\/local\/run\.mjs )/.test(command)),
  ).toEqual([]);
});

const locks = ["package-lock.json", "test/bench/peers/package-lock.json"].map((path) => {
  const text = readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
  return { path, packages: lockSchema.parse(JSON.parse(text)).packages };
});

// npm leaves out the packages of other platforms where it adds a dependency to an installed checkout,
// and `npm ci` then refuses the lock on a new machine.
test.each(locks)("$path names the packages of every platform, so that npm ci installs on each", ({ packages }) => {
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

test.each(locks)("$path names no registry", ({ packages }) => {
  expect(Object.values(packages).flatMap((entry) => entry.resolved ?? [])).toEqual([]);
});
