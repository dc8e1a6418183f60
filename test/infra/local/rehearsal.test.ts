import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { expect, onTestFinished, test, vi } from "vitest";
import { type LocalStack, startLocalStack } from "../../../infra/local/local-stack.ts";
import { rehearseUpload } from "../../../infra/local/rehearsal.ts";
import { createTestRuntime } from "../../support/runtime.ts";
import { temporaryDirectory } from "./written-functions.ts";

const NAME = "rehearsal-of-the-local-stack";

/** Starts the stack as `npm start` does. */
const start = async (dataDirectory: string): Promise<LocalStack> =>
  startLocalStack({ port: 0, dataDirectory, rehearses: true });

const logOf = (dataDirectory: string): string => readFileSync(join(dataDirectory, "functions.log"), "utf8");

/** Records of the rehearsal in all tables, and its files. */
const left = async ({ environment, dataDirectory }: LocalStack): Promise<readonly unknown[]> => {
  const client = new DynamoDBClient({ endpoint: environment["AWS_ENDPOINT_URL_DYNAMODB"] ?? "" });
  const tables = ["WORK_ITEMS_TABLE", "ACCESS_TABLE", "LIMITS_TABLE"].map((name) => environment[name]);
  const scans = tables.map((TableName) => client.send(new ScanCommand({ TableName, ConsistentRead: true })));
  const records = (await Promise.all(scans)).flatMap(({ Items = [] }) => Items);
  client.destroy();
  const files = readdirSync(join(dataDirectory, "objects"), { recursive: true, encoding: "utf8" });
  return [...records.map((record) => JSON.stringify(record)), ...files].filter((text) => text.includes(NAME));
};

const call = async ({ baseUrl, apiKey }: LocalStack, path: string): Promise<unknown> => {
  const response = await fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${apiKey}` } });
  return ((await response.json()) as { readonly data: unknown }).data;
};

test("uploads a file at the start, of which nothing is left and nobody else sees anything", async () => {
  const dataDirectory = temporaryDirectory();
  const stack = await start(dataDirectory);
  onTestFinished(() => stack.stop());
  await expect.poll(() => logOf(dataDirectory)).toMatch(new RegExp(`"route":"get-work-item-upload".*"${NAME}"`));
  await expect.poll(() => left(stack)).toEqual([]);
  expect(await call(stack, "/v1/work_items")).toEqual([]);
  expect(await call(stack, "/v1/work_items/upload")).toEqual([]);
});

test("ends before the stack does, so that nothing is left of it then either", async () => {
  const dataDirectory = temporaryDirectory();
  const first = await start(dataDirectory);
  await first.stop();
  expect(logOf(dataDirectory)).toContain(NAME);

  const second = await startLocalStack({ port: 0, dataDirectory });
  onTestFinished(() => second.stop());
  expect(await left(second)).toEqual([]);
});

test("says that uploads may not work if its own does not", async () => {
  const told = vi.spyOn(console, "error").mockReturnValue();
  onTestFinished(() => told.mockRestore());
  const { dynamodb, s3, environment } = await createTestRuntime();
  const broken = {
    name: "upload-work-items",
    invoke: async () => ({ ok: false, error: { errorType: "Error", errorMessage: "it is broken" } }) as const,
    warm: () => {},
    stop: async () => {},
  };
  const { ACCESS_TABLE } = environment;
  const stop = rehearseUpload({
    functionNamed: () => broken,
    dynamodb,
    s3,
    region: "us",
    environment: { ACCESS_TABLE },
  });
  await expect.poll(() => told.mock.calls).toEqual([[expect.stringContaining("upload-work-items: it is broken")]]);
  await stop();
});
