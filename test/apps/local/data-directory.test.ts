import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openDataDirectory } from "../../../apps/local/data-directory.ts";
import { startDynamoDbEngine } from "../../../apps/local/engines/dynamodb.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const MODULE = fileURLToPath(new URL("../../../apps/local/data-directory.ts", import.meta.url));

/** Starts another process that has opened the directory. */
const holdElsewhere = async (directory: string) => {
  const source = `const { openDataDirectory } = await import(${JSON.stringify(MODULE)});
    await openDataDirectory(${JSON.stringify(directory)}); console.log("open"); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
};

test("is made where it is missing", async () => {
  const directory = join(temporaryDirectory(), "a/b");
  const data = await openDataDirectory(directory);
  expect(data.path).toBe(directory);
  data.close();
});

test("and what is in it can only be read by this user, also what was there before", async () => {
  const directory = join(temporaryDirectory(), "made");
  (await openDataDirectory(directory)).close();
  const modesOf = () =>
    ["", ...readdirSync(directory, { recursive: true, encoding: "utf8" })].map((name) => {
      const { mode } = statSync(join(directory, name));
      return [name, (mode & 0o777).toString(8)];
    });
  expect(modesOf()).toEqual(
    expect.arrayContaining([
      ["dynamodb.sqlite", "600"],
      ["objects", "700"],
      ["", "700"],
    ]),
  );
  expect(modesOf().filter(([, mode]) => !/^[67]00$/.test(mode ?? ""))).toEqual([]);
  for (const [name = "", mode] of modesOf()) if (name !== "") chmodSync(join(directory, name), `${mode?.[0]}55`);
  (await openDataDirectory(directory)).close();
  expect(modesOf().filter(([, mode]) => !/^[67]00$/.test(mode ?? ""))).toEqual([]);
});

test("that others use too keeps its mode", async () => {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o755);
  (await openDataDirectory(directory)).close();
  expect(statSync(directory).mode & 0o777).toBe(0o755);
});

test.each([
  ["no version", ""],
  ["version 2", "2"],
  ["version 4", "4"],
])("is rejected with a sentence that says what to do if it has %s", async (found, version) => {
  const directory = temporaryDirectory();
  (await openDataDirectory(directory)).close();
  const database = join(directory, "dynamodb.sqlite");
  using stored = new DatabaseSync(database);
  stored.exec("CREATE TABLE items (id)");
  const before = readFileSync(database);
  writeFileSync(join(directory, "version"), version);
  const started = new Date("2026-11-20T10:00:00.000Z");
  utimesSync(join(directory, "version"), started, started);
  await expect(openDataDirectory(directory)).rejects.toThrow(
    `${directory}: what is stored has ${found}, and this code reads 3: the commit that last used it does ` +
      `(git log -1 --format=%h --until=${started.toISOString()}); or delete it, or name another folder with DATA_DIR`,
  );
  expect(readFileSync(database).equals(before)).toBe(true);
});

test("is opened again by the version that made it", async () => {
  const directory = temporaryDirectory();
  (await openDataDirectory(directory)).close();
  expect(readFileSync(join(directory, "version"), "utf8")).toBe("3\n");
  (await openDataDirectory(directory)).close();
});

test("belongs to one local service at a time, until that one ends, even by a kill -9", async () => {
  const directory = temporaryDirectory();
  const holder = await holdElsewhere(directory);
  await expect(openDataDirectory(directory)).rejects.toThrow(
    `the data directory ${directory} is in use by another local service (process ${holder.pid})`,
  );
  holder.kill("SIGKILL");
  await once(holder, "exit");
  (await openDataDirectory(directory)).close();
});

test("is not opened while an engine of before still has its file", async () => {
  const directory = temporaryDirectory();
  const data = await openDataDirectory(directory);
  data.close();
  const engine = await startDynamoDbEngine({ file: data.dynamodbFile });
  const opening = openDataDirectory(directory);
  setTimeout(() => void engine.stop(), 300);
  const from = Date.now();
  (await opening).close();
  expect(Date.now() - from).toBeGreaterThan(250);
});

test.each([
  ["there is a file in its place", (path: string) => writeFileSync(path, ""), "cannot be used"],
  [
    "a database in it is broken",
    (path: string) => {
      mkdirSync(path);
      writeFileSync(join(path, "dynamodb.sqlite"), "x".repeat(4096));
    },
    "dynamodb.sqlite is broken: file is not a database",
  ],
])("is rejected in one line where %s", async (_, spoil, reason) => {
  const directory = join(temporaryDirectory(), "data");
  spoil(directory);
  const refused = openDataDirectory(directory).catch((error: unknown) => String(error));
  expect(await refused).toContain(reason);
  expect(await refused).not.toContain("\n");
});
