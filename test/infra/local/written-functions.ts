import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { FunctionDefinition } from "../../../infra/local/lambda/instance.ts";
import { createLambdaFunction, type LambdaFunction } from "../../../infra/local/lambda/lambda-function.ts";

/** Makes a directory for the current test, which is removed when the test has finished. */
export const temporaryDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), "local-stack-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
};

/** Makes a Lambda function with the given source code, which is stopped when the test has finished. */
export const writtenFunction = (
  name: string,
  source: string,
  settings: Partial<FunctionDefinition> = {},
  idleMs?: number,
): LambdaFunction & { readonly printed: () => string; readonly terminal: () => string; readonly directory: string } => {
  const directory = join(temporaryDirectory(), name);
  mkdirSync(directory);
  writeFileSync(join(directory, "index.js"), source);
  const logFile = join(directory, "log");
  const log = openSync(logFile, "a");
  const terminalFile = join(directory, "terminal");
  const terminal = openSync(terminalFile, "a");
  const made = createLambdaFunction(
    {
      name,
      arn: `arn:aws:lambda:us-east-1:000000000000:function:${name}`,
      directory,
      handler: "index.handler",
      memoryMb: 128,
      timeoutSeconds: 5,
      environment: {},
      concurrency: 2,
      terminal,
      ...settings,
    },
    [log],
    idleMs,
  );
  onTestFinished(async () => {
    await made.stop();
    closeSync(log);
    closeSync(terminal);
  });
  return {
    ...made,
    directory,
    printed: () => readFileSync(logFile, "utf8"),
    terminal: () => readFileSync(terminalFile, "utf8"),
  };
};
