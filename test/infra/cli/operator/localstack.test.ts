import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { childEnvironment } from "../../../support/child-environment.ts";

const run = async (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, ["infra/cli/operator/localstack.ts", ...args], {
    env: childEnvironment(),
  }).then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      output: error.stdout + error.stderr,
    }),
  );

test("npm run localstack says how to start a LocalStack where none runs, before it builds anything", async () => {
  const { code, output } = await run("us", "--endpoint", "http://127.0.0.1:1");
  expect(code).toBe(1);
  expect(output).toMatch(/^LocalStack isn't running at http:\/\/127\.0\.0\.1:1 .*localstack\/localstack:4\.14/s);
});

test("npm run localstack takes no other server for a LocalStack, and no region that doesn't exist", async () => {
  const server = createServer((_, response) => response.writeHead(404).end());
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  expect((await run("us", "--endpoint", `http://127.0.0.1:${port}`)).output).toMatch(
    /responds with 404 and isn't LocalStack/,
  );
  expect((await run("usa")).output).toMatch(/there is no usa; did you mean us\?/);
  expect((await run("--help")).output).toMatch(/docker run .*floci and ministack/s);
});
