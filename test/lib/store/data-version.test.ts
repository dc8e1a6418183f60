import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { Context } from "aws-lambda";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { deployCommand } from "../../../apps/operator/commands/deploy.ts";
import { assertReadsData, raiseDataVersion } from "../../../apps/operator/commands/stack-data.ts";
import { parseSettings } from "../../../infra/settings/settings.ts";
import { tagsOf } from "../../../infra/settings/setting-tags.ts";
import { stages } from "../../../infra/stages.ts";
import { allWorkers } from "../../../functions/workers.ts";
import { checkDataVersion, DATA_VERSION, READS } from "../../../lib/store/data-version.ts";
import { ORIGIN_KEY, readOrigin, writeOrigin } from "../../../lib/store/table-origin.ts";
import { getItem } from "../../../lib/store/batch-get.ts";
import { startAwsAccount } from "../../support/aws-account.ts";
import { overwrite } from "../../support/customer-data.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";
import { runCommand } from "../../support/terminal.ts";
import { sqsEvent } from "../../support/uploads/upload-harness.ts";

/** A table whose data has a version; null for none. */
const tableOf = async (version: number | null): Promise<TestRuntime> => {
  const runtime = await createTestRuntime();
  await overwrite(runtime, "WORK_ITEMS_TABLE", ORIGIN_KEY, "data_version", version);
  return runtime;
};
const emptyTable = async (): Promise<TestRuntime> => {
  const runtime = await createTestRuntime();
  await runtime.dynamodb.send(new DeleteCommand({ TableName: runtime.environment.WORK_ITEMS_TABLE, Key: ORIGIN_KEY }));
  return runtime;
};
const versionIn = async ({ dynamodb, environment }: TestRuntime) =>
  (await getItem(dynamodb, environment.WORK_ITEMS_TABLE, ORIGIN_KEY))?.["data_version"];

const create = async (name: string, runtime: TestRuntime) => {
  const module = (await import(`../../../functions/${name}.ts`)) as {
    create: (from: TestRuntime) => (event: unknown, context: Context) => Promise<unknown>;
  };
  return module.create(runtime);
};
const sentence = (found: string) => `what is stored has ${found}, and this code reads 3: `;

test("this code writes one of the versions that it reads", () => {
  expect(READS).toContain(DATA_VERSION);
});

const refused: { readonly table: TestRuntime; readonly found: string }[] = [];
beforeAll(async () => {
  for (const [version, found] of [
    [2, "version 2"],
    [4, "version 4"],
    [null, "no version"],
  ] as const)
    refused.push({ table: await tableOf(version), found });
});
test.each(allWorkers.map(({ name }) => name))(
  "%s refuses what has another version or none, and says so",
  async (name) => {
    for (const { table, found } of refused) {
      const handle = await create(name, table);
      // The batch as a whole fails, so that every message comes again.
      for (const event of [sqsEvent("{}", "{}"), {}]) {
        await expect(handle(event, lambdaContext(60_000))).rejects.toThrow(`${sentence(found)}run npm run pause`);
      }
    }
  },
);

test("a worker reads the version once if it is right, and again if it was wrong", async () => {
  const runtime = await tableOf(2);
  let reads = 0;
  runtime.dynamodb.middlewareStack.add((next) => async (request) => {
    const { Key: key } = request.input as { Key?: { pk?: unknown } };
    if (key?.pk === ORIGIN_KEY.pk) reads++;
    return next(request);
  });
  const sweep = await create("sweep-webhooks", runtime);
  const run = () => sweep({}, lambdaContext(60_000));
  await expect(run()).rejects.toThrow(sentence("version 2"));
  await overwrite(runtime, "WORK_ITEMS_TABLE", ORIGIN_KEY, "data_version", DATA_VERSION);
  reads = 0;
  for (let count = 0; count < 3; count++) await run();
  expect(reads).toBe(1);
});

test("the sweep never writes the version, not even into a table of another region", async () => {
  const runtime = await tableOf(2);
  await writeOrigin(runtime);
  await writeOrigin({ ...runtime, environment: { ...runtime.environment, REGION_CODE: "eu" } });
  expect(await versionIn(runtime)).toBe(2);
});

test("a table without a version is new only while it is empty", async () => {
  await expect(checkDataVersion(await tableOf(null), "")).rejects.toThrow(sentence("no version"));
  const runtime = await emptyTable();
  expect(await checkDataVersion(runtime, "")).toBeUndefined();
  const Item = { pk: "ITEM#a", sk: "#ITEM" };
  await runtime.dynamodb.send(new PutCommand({ TableName: runtime.environment.WORK_ITEMS_TABLE, Item }));
  await expect(checkDataVersion(runtime, "")).rejects.toThrow(sentence("no version"));
});

describe("a deployment", () => {
  const stackName = "WorkItems-us";
  const address = { stackName, region: "us-east-1", profile: undefined };
  /** An account whose stack has the tables of a runtime. @param deployed version of the deployed code; "" for none */
  const accountOf = async ({ environment }: TestRuntime, deployed = String(DATA_VERSION)) => {
    const { WORK_ITEMS_TABLE: WorkItemsTable, AUDIT_TABLE: AuditTable } = environment;
    const outputs = { WorkItemsTable, AuditTable, ...(deployed && { DataVersion: deployed }) };
    const tags = tagsOf(parseSettings({ region: "us" }, stages).regions.get("us")!);
    const account = await startAwsAccount({ [stackName]: { status: "UPDATE_COMPLETE", outputs, tags } });
    const { AWS_ENDPOINT_URL_DYNAMODB: _, ...variables } = account.variables;
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    onTestFinished(() => {
      vi.unstubAllEnvs();
      account.close();
    });
    return new Map(Object.entries(outputs));
  };

  test.each([
    ["an older version", 2, "3", "version 2"],
    ["a newer version", 4, "3", "version 4"],
    ["no version, and isn't empty", null, "", "no version"],
    ["code of a newer version, which may have written since", 3, "4", "version 4"],
  ])("is refused by what has %s", async (_, version, deployed, found) => {
    const outputs = await accountOf(await tableOf(version), deployed);
    const refusal = `${stackName}: ${sentence(found)}nothing was deployed; check out a commit that reads it`;
    await expect(assertReadsData(address, "us", outputs)).rejects.toThrow(refusal);
    const { status, error } = await runCommand(deployCommand, ["us", "--drop", "protection"], { env: {} });
    expect([status, error]).toEqual([1, refusal]);
  });

  test("of a stack that isn't there, or whose table is empty, goes on, and writes the version at its end", async () => {
    const runtime = await emptyTable();
    const outputs = await accountOf(runtime);
    await assertReadsData(address, "us", new Map());
    await assertReadsData(address, "us", outputs);
    expect(await versionIn(runtime)).toBeUndefined();
    await raiseDataVersion(address, "us");
    expect(await readOrigin(runtime)).toMatchObject({ region: "us", ledger: runtime.environment.AUDIT_TABLE });
    expect(await checkDataVersion(runtime, "")).toBe(DATA_VERSION);
  });

  test("that didn't update the stack leaves the version as it is", async () => {
    const runtime = await tableOf(2);
    await accountOf(runtime, "2");
    await raiseDataVersion(address, "us");
    expect(await versionIn(runtime)).toBe(2);
  });
});
