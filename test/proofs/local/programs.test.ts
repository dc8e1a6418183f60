import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { childEnvironment } from "../../support/child-environment.ts";
import { runScript } from "../../support/run-script.ts";

const programs = Object.entries(manifest.scripts).flatMap(([name, command]) => {
  const [, file] = /run\.mjs (apps\/(?:cli|operator)\/\S+)$/.exec(command) ?? [];
  return file === undefined ? [] : [[name, file] as const];
});

test("there are commands", () => expect(programs.length).toBeGreaterThan(7));

test.each(programs)("npm run %s starts %s", async (_, file) => {
  const { status, out, error } = await runScript("apps/local/run.mjs", [file, "--help"]);
  expect({ status, error }).toEqual({ status: 0, error: "" });
  expect(out).toMatch(/^Usage: .+\n\n[A-Z]/);
});

test("a command's status is its program's", async () => {
  const { status, error } = await runScript("apps/local/run.mjs", ["apps/operator/commands/smoke.ts"]);
  expect({ status, error }).toEqual({ status: 1, error: "required option '--url <url>' not specified" });
});

test("a reader may end before the output does", async () => {
  const child = spawn(process.execPath, ["apps/operator/commands/keys.ts", "--help"], { env: childEnvironment() });
  child.stdout.destroy();
  const [error, [status]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect({ status, error }).toEqual({ status: 0, error: "" });
});

test("a command waits for a far host longer than Node does by default", async () => {
  const program = `
    import { getDefaultAutoSelectFamilyAttemptTimeout as milliseconds } from "node:net";
    import { runAsProgram } from "./infra/terminal/terminal.ts";
    await runAsProgram(async ({ print }) => { print(String(milliseconds())); return 0; });`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], { env: childEnvironment() });
  expect(await text(child.stdout)).toBe("5000\n");
});
