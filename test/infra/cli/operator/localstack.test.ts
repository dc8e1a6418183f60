import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { localstackCommand } from "../../../../infra/cli/operator/localstack.ts";
import { runCommand } from "../../../support/terminal.ts";

const run = async (...args: readonly string[]) => {
  const { status, out, error } = await runCommand(localstackCommand, args);
  return { status, output: out + error };
};

test("npm run localstack says how to start a LocalStack where none runs, before it builds anything", async () => {
  const { status, output } = await run("us", "--endpoint", "http://127.0.0.1:1");
  expect(status).toBe(1);
  expect(output).toMatch(/^LocalStack isn't running at http:\/\/127\.0\.0\.1:1 .*localstack\/localstack:4\.14/s);
});

test("npm run localstack names the services that a LocalStack lacks, before it builds anything", async () => {
  const services = { apigateway: "available", cloudformation: "running", dynamodb: "running", s3: "disabled" };
  const server = createServer((_, response) => response.end(JSON.stringify({ services })));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { status, output } = await run("us", "--endpoint", `http://127.0.0.1:${port}`);
  expect(status).toBe(1);
  expect(output).toMatch(/doesn't offer lambda, s3, sqs, sts\. Versions after 4\.14 need LOCALSTACK_AUTH_TOKEN/);
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
