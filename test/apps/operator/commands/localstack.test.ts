import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { localstackCommand, namesOf } from "../../../../apps/operator/commands/localstack.ts";
import { tablesIn } from "../../../../apps/operator/commands/target-tables.ts";
import { runCommand } from "../../../support/terminal.ts";
import { assemblyOf } from "../../../infra/synthesized.ts";

const run = async (...args: readonly string[]) => {
  const { status, out, error } = await runCommand(localstackCommand, args);
  return { status, output: out + error };
};

/** A server that answers everything alike. @returns its address */
const answering = async (status: number, body: string): Promise<string> => {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const services = { apigateway: "available", cloudformation: "running", dynamodb: "running", s3: "disabled" };

test.each([
  ["none", async () => "http://127.0.0.1:1", /^LocalStack isn't running at http:\S+:1 .*localstack\/localstack:4\.14/s],
  [
    "one that lacks services",
    () => answering(200, JSON.stringify({ services })),
    /doesn't offer dynamodbstreams, lambda, s3, sqs, sts\. Versions after 4\.14 need LOCALSTACK_AUTH_TOKEN/,
  ],
  ["another server", () => answering(404, ""), /responds with 404 and isn't LocalStack/],
])("npm run localstack says what to do in place of %s, before it builds anything", async (_, start, message) => {
  const { status, output } = await run("us", "--endpoint", await start());
  expect([status, output]).toEqual([1, expect.stringMatching(message)]);
});

test("npm run localstack knows its regions, and says how to start a LocalStack", async () => {
  expect((await run("usa")).output).toMatch(/there is no usa; did you mean us\?/);
  expect((await run("--help")).output).toMatch(
    /docker run .*PROVIDER_OVERRIDE_DYNAMODBSTREAMS=v2 .*floci and ministack/s,
  );
});

test("its tables are where the variable for all services says, which this process doesn't have", async () => {
  const { hostname } = await tablesIn("us-east-1", { AWS_ENDPOINT_URL: "http://stack:4566" }).config.endpoint!();
  expect(hostname).toBe("stack");
});

test("the names that must resolve to this machine include the bucket of the functions' code", () => {
  const { directory } = assemblyOf({}, { region: "us" });
  const assets = JSON.parse(readFileSync(join(directory, "WorkItems-us.assets.json"), "utf8")) as {
    readonly files: Readonly<
      Record<string, { readonly destinations: Readonly<Record<string, { bucketName: string }>> }>
    >;
  };
  const buckets = Object.values(assets.files).flatMap(({ destinations }) => Object.values(destinations));
  const names = new Set(buckets.map(({ bucketName }) => bucketName.replace("${AWS::AccountId}", "000000000000")));
  expect([...names].map((name) => `${name}.s3.localhost.localstack.cloud`)).toEqual(namesOf("us-east-1").slice(2));
});
