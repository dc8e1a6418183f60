import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openDataDirectory } from "../../../infra/local/data-directory.ts";
import { startDynamoDbEngine } from "../../../infra/local/dynamodb-engine.ts";
import { temporaryDirectory } from "./written-functions.ts";

const MODULE = fileURLToPath(new URL("../../../infra/local/data-directory.ts", import.meta.url));

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
  await data.close();
});

test("belongs to one local stack at a time, until that one ends, even by a kill -9", async () => {
  const directory = temporaryDirectory();
  const holder = await holdElsewhere(directory);
  await expect(openDataDirectory(directory)).rejects.toThrow(
    `the data directory ${directory} is in use by another local stack (process ${holder.pid})`,
  );
  holder.kill("SIGKILL");
  await once(holder, "exit");
  await (await openDataDirectory(directory)).close();
});

test("is not opened while an engine of before still has its file", async () => {
  const directory = temporaryDirectory();
  const data = await openDataDirectory(directory);
  await data.close();
  const engine = await startDynamoDbEngine({ file: data.dynamodbFile });
  const opening = openDataDirectory(directory);
  setTimeout(() => void engine.stop(), 300);
  const from = Date.now();
  await (await opening).close();
  expect(Date.now() - from).toBeGreaterThan(250);
});

test.each([
  ["a file stands in its place", (path: string) => writeFileSync(path, ""), "cannot be used"],
  [
    "a database in it is broken",
    (path: string) => {
      mkdirSync(path);
      writeFileSync(join(path, "dynamodb.sqlite"), "x".repeat(4096));
    },
    "dynamodb.sqlite is broken: file is not a database",
  ],
])("is refused in one line where %s", async (_, spoil, reason) => {
  const directory = join(temporaryDirectory(), "data");
  spoil(directory);
  const refused = openDataDirectory(directory).catch((error: unknown) => String(error));
  expect(await refused).toContain(reason);
  expect(await refused).not.toContain("\n");
});
