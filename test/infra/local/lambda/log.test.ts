import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { writeLog } from "../../../../infra/local/lambda/log.mjs";
import { temporaryDirectory } from "../written-functions.ts";

const MODULE = fileURLToPath(new URL("../../../../infra/local/lambda/log.mjs", import.meta.url));

test("continues after lines that can't be written, and writes them to the other outputs", () => {
  const directory = temporaryDirectory();
  const [unwritable, written] = [join(directory, "unwritable"), join(directory, "written")];
  writeFileSync(unwritable, "");
  const descriptors = [openSync(unwritable, "r"), openSync(written, "a")];
  writeLog(descriptors, "one\n");
  writeLog(descriptors, Buffer.from("two\n"));
  for (const descriptor of descriptors) closeSync(descriptor);
  expect(readFileSync(written, "utf8")).toBe("one\ntwo\n");
});

test("waits for a reader that is slow", async () => {
  const lines = 40_000;
  // Node makes its own pipes such that a write to a full one fails.
  const source = `
    import { writeLog } from ${JSON.stringify(MODULE)};
    const descriptor = process.stdout.fd;
    for (let line = 0; line < ${lines}; line++) writeLog([descriptor], "line " + line + "\\n");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await sleep(500);
  let read = "";
  child.stdout.on("data", (chunk) => (read += String(chunk)));
  await once(child, "close");
  const found = read.trimEnd().split("\n");
  const right = found.filter((text, line) => text === `line ${line}`).length;
  expect([right, found.length]).toEqual([lines, lines]);
});
