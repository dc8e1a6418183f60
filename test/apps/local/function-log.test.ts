import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createLogWriter, LOG_MAX_BYTES } from "../../../apps/local/function-log.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const ROOT = pathToFileURL(join(import.meta.dirname, "../../..")).href;

/** Writes to a log. @returns what is in the log and on the terminal */
const write = (text: string, verbose = false) => {
  const file = join(temporaryDirectory(), "log");
  const log = openSync(file, "a");
  onTestFinished(() => closeSync(log));
  let terminal = "";
  createLogWriter({ log, verbose }, (line) => (terminal += line))(text);
  return { log: readFileSync(file, "utf8"), terminal };
};

const errorLine = (status: number) => {
  const stack = `TypeError: order 7\nsecond line
    at node:internal/process:1:1
    at refuse (${ROOT}/node_modules/other/index.js:9:9)
    at handle (${ROOT}/lib/orders.ts:3:9)`;
  const error = { name: "TypeError", message: "order 7\nsecond line", stack };
  return JSON.stringify({ level: "ERROR", message: "request", request_id: "r-1", route: "get-order", status, error });
};

test("has one line with the source line for an unexpected error, and its stack in source lines", () => {
  const { log, terminal } = write(errorLine(500));
  expect(terminal).toMatch(/^\d\d:\d\d:\d\d get-order 500 TypeError: order 7 at lib\/orders\.ts:3 \(request r-1\)\n$/);
  const { error } = JSON.parse(log) as { error: { stack: string } };
  expect(error.stack).toContain("at handle (lib/orders.ts:3:9)");
});

test("prints nothing for a response that asks callers to retry", () => {
  const { log, terminal } = write(errorLine(503));
  expect(terminal).toBe("");
  expect(log).toContain("lib/orders.ts:3:9");
});

test("prints one line for an invocation that fails without a stack", () => {
  const line = { level: "ERROR", message: "invocation failed", function: "sweep", request_id: "r-2", error: "no" };
  expect(write(JSON.stringify(line)).terminal).toMatch(/^\S+ sweep Error: no \(request r-2\)\n$/);
});

test("prints all of it if it is asked to", () => {
  expect(write("anything\n", true)).toEqual({ log: "anything\n", terminal: "anything\n" });
});

test.each(['not JSON "level":"ERROR"\n', '["level":"ERROR"]\n'])(
  "logs as it is what only looks like an error: %s",
  (text) => {
    expect(write(text)).toEqual({ log: text, terminal: "" });
  },
);

test("starts over when it is too long, while the service runs", () => {
  const file = join(temporaryDirectory(), "log");
  const log = openSync(file, "a");
  onTestFinished(() => closeSync(log));
  const record = createLogWriter({ log, verbose: false }, () => {});
  const line = `${"x".repeat(4 * 1024 * 1024)}\n`;
  for (let written = 0; written <= LOG_MAX_BYTES; written += line.length) record(line);
  expect(statSync(file).size).toBeGreaterThan(LOG_MAX_BYTES);
  record("the last line\n");
  expect(readFileSync(file, "utf8")).toBe("the last line\n");
});
