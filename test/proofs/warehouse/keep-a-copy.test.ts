import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../../apps/client/client.ts";
import { childEnvironment } from "../../support/child-environment.ts";
import { DUCKDB_FILES, DUCKDB_UPDATE } from "./copies.ts";
import { startTestService, type TestService } from "../../support/local-service.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { changeItems, createItems, feedIsComplete, listedItems } from "./items-to-copy.ts";

const directory = temporaryDirectory(afterAll);
let stack: TestService;
let client: Client;
beforeAll(async () => {
  stack = await startTestService();
  client = createClient({ baseUrl: stack.baseUrl, apiKey: stack.apiKey });
  for (const [name, text] of Object.entries(DUCKDB_FILES)) writeFileSync(join(directory, name), text);
});
afterAll(() => stack?.stop());

/** Runs the guide's shell code. @param killedBefore a command in it that is killed in this run */
const update = async (killedBefore?: "duckdb" | "mv"): Promise<void> => {
  const killing = killedBefore === undefined ? "" : `${killedBefore}() { kill -9 $$; }`;
  const commands = DUCKDB_UPDATE.replace("set -e\n", `$&${killing}\n`);
  await promisify(execFile)("bash", ["-c", commands], {
    cwd: directory,
    env: { ...childEnvironment(), WORK_ITEMS_URL: stack.baseUrl, WORK_ITEMS_KEY: stack.apiKey },
  });
};

/** The warehouse's table, in the shape of the service's list. */
const copied = async (): Promise<Map<string, object>> => {
  const instance = await DuckDBInstance.create(join(directory, "warehouse.duckdb"));
  const connection = await instance.connect();
  const reader = await connection.runAndReadAll(
    `SELECT id, external_id, type, status, strftime(completed_at, '%Y-%m-%dT%H:%M:%S.%gZ') AS completed_at,
       custom_attributes::VARCHAR AS custom_attributes, strftime(updated_at, '%Y-%m-%dT%H:%M:%S.%gZ') AS updated_at
     FROM work_items`,
  );
  const rows = reader.getRowObjectsJson();
  connection.closeSync();
  instance.closeSync();
  return new Map(rows.map((row) => [row["id"] as string, row]));
};
const expected = async (): Promise<Map<string, object>> => {
  const items = await listedItems(client);
  return new Map(
    [...items].map(([id, { external_id, type, status, completed_at, custom_attributes, updated_at }]) => [
      id,
      { id, external_id, type, status, completed_at, custom_attributes: JSON.stringify(custom_attributes), updated_at },
    ]),
  );
};

describe("a table in DuckDB that is kept by the guide's commands", () => {
  it("equals the list after a first load and three increments", async () => {
    await createItems(client, "first", 1200);
    await update();
    expect(await copied()).toEqual(await expected());
    for (const name of ["second", "third", "fourth"]) {
      await changeItems(client, name);
      await feedIsComplete(client);
      await update();
      expect(await copied()).toEqual(await expected());
    }
  });

  it.each(["duckdb", "mv"] as const)("is complete after a run that was killed before %s", async (command) => {
    await changeItems(client, `killed-before-${command}`);
    await feedIsComplete(client);
    await expect(update(command)).rejects.toThrow("Command failed");
    await changeItems(client, `after-${command}`);
    await feedIsComplete(client);
    await update();
    expect(await copied()).toEqual(await expected());
  });
});
