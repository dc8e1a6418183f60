import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ReplaceableFunction } from "../../../../infra/local/lambda/replaceable-function.ts";
import { temporaryDirectory } from "../written-functions.ts";

/** A function whose versions, which the test writes, are in directories of their own. */
const replaceable = (source: string) => {
  const root = temporaryDirectory();
  const write = (name: string, code: string): string => {
    const directory = join(root, name);
    mkdirSync(directory);
    writeFileSync(join(directory, "index.js"), code);
    return directory;
  };
  const definition = {
    name: "versions",
    arn: "arn:aws:lambda:us-east-1:000000000000:function:versions",
    directory: write("first", source),
    handler: "index.handler",
    memoryMb: 128,
    timeoutSeconds: 60,
    environment: {},
    concurrency: 1,
  };
  const log = openSync(devNull, "a");
  const made = new ReplaceableFunction(definition, [log]);
  onTestFinished(async () => {
    await made.stop();
    closeSync(log);
  });
  return {
    definition,
    invoke: async (event: object): Promise<unknown> => {
      const invocation = await made.invoke(JSON.stringify(event));
      return invocation.ok ? JSON.parse(invocation.payload) : invocation.error;
    },
    replace: (code: string) => made.replaceCode(write("second", code)),
  };
};

test("runs new code for the next event, with the root directory that the function had", async () => {
  const { definition, invoke, replace } = replaceable("exports.handler = async () => 'first'");
  expect(await invoke({})).toBe("first");
  await replace("exports.handler = async () => 'second in ' + process.env.LAMBDA_TASK_ROOT");
  expect(await invoke({})).toBe(`second in ${definition.directory}`);
});

test("lets an event end with the code that it began with, and runs new code beside it", async () => {
  const file = join(temporaryDirectory(), "go");
  const { invoke, replace } = replaceable(`const { existsSync, writeFileSync } = require("node:fs");
    exports.handler = async ({ file }) => {
      writeFileSync(file + ".begun", "");
      while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 10));
      return "first";
    }`);
  const first = invoke({ file });
  await expect.poll(() => existsSync(`${file}.begun`)).toBe(true);
  await replace("exports.handler = async () => 'second'");
  expect(await invoke({})).toBe("second");
  writeFileSync(file, "");
  expect(await first).toBe("first");
});
