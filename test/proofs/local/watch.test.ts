import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { readEnvironmentFile } from "../../../infra/terminal/environment-file.ts";
import { childEnvironment } from "../../support/child-environment.ts";
import { copyCheckout } from "../../support/checkout-copy.ts";

/** One copy of the checkout and one start for all: each takes seconds. */
describe("npm start -- --watch", () => {
  const copy = copyCheckout();
  const directory = join(copy, "data");
  let child: ChildProcess;
  let printed = "";
  let baseUrl = "";
  let headers: Record<string, string> = {};

  beforeAll(async () => {
    child = spawn(process.execPath, ["apps/local/start.ts", "--watch"], {
      cwd: copy,
      env: { ...childEnvironment(), DATA_DIR: directory, PORT: "0" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (printed += String(chunk)));
    await vi.waitFor(() => expect(printed).toMatch(/^ready$|^Cannot start/m), { timeout: 300_000 });
    const { BASE_URL = "", API_KEY = "" } = readEnvironmentFile(join(directory, "env"));
    baseUrl = BASE_URL;
    headers = { authorization: `Bearer ${API_KEY}` };
  });
  afterAll(async () => {
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
    rmSync(copy, { recursive: true, force: true });
  });

  /** Replaces a text in a file. What was printed before is forgotten. */
  const edit = (file: string, from: string, to: string): void => {
    const text = readFileSync(join(copy, file), "utf8");
    expect(text).toContain(from);
    printed = "";
    writeFileSync(join(copy, file), text.replace(from, to));
  };
  /** While it starts again, nothing listens. */
  const get = async (path: string): Promise<unknown> => {
    const { BASE_URL = "" } = readEnvironmentFile(join(directory, "env"));
    const response = await fetch(`${BASE_URL}${path}`, { headers }).catch(() => undefined);
    return response?.json();
  };
  const upload = async (rows: number): Promise<string> => {
    const form = new FormData();
    const lines = Array.from({ length: rows }, (_, index) => `row ${index}\n`);
    form.append("upload[file]", new Blob([`external_id\n${lines.join("")}`], { type: "text/csv" }), "items.csv");
    const response = await fetch(`${baseUrl}/v1/work_items/upload`, { method: "POST", headers, body: form });
    const { data } = (await response.json()) as { data: { id: string } };
    return `/v1/work_items/upload/${data.id}`;
  };

  test("serves a change in lib, and finishes the jobs that run", async () => {
    const job = await upload(300);
    edit("lib/http/pagination.ts", "must be a whole number from 1", "must be a number of items from 1");
    await expect
      .poll(() => get("/v1/work_items?limit=0"))
      .toEqual({ error: "limit: must be a number of items from 1 to 100" });
    await expect.poll(() => get(job)).toMatchObject({ data: { status: "completed", succeeded_rows: 300 } });
    expect(await get("/v1/work_items?external_id=row%20299")).toMatchObject({ data: [{ status: "pending" }] });
  });

  test("starts again after a change, and keeps the data", async () => {
    edit("functions/get-health.ts", 'status: "ok" as const, region', 'status: "ok" as const, region: `${region}!`');
    await expect.poll(() => get("/v1/health")).toMatchObject({ region: "us!" });
    expect(printed).toMatch(/^functions\/get-health\.ts changed\n/);
    expect(await get("/v1/work_items?external_id=row%201")).toMatchObject({ data: [{ external_id: "row 1" }] });
  });

  test("says where a file can't be read, and starts when it can", async () => {
    edit("functions/get-health.ts", "await checkTable();", "await checkTable(;");
    await expect.poll(() => printed).toMatch(/get-health\.ts:\d+/);
    edit("functions/get-health.ts", "await checkTable(;", "await checkTable();");
    await expect.poll(() => get("/v1/health")).toMatchObject({ region: "us!" });
  });

  test("names the source line of an unexpected error", async () => {
    edit("functions/get-health.ts", "    await checkTable();", '    throw new Error("out of order");');
    await expect.poll(() => get("/v1/health")).toMatchObject({ error: expect.any(String) });
    const line = readFileSync(join(copy, "functions/get-health.ts"), "utf8").split("throw", 1)[0]?.split("\n").length;
    await expect
      .poll(() => printed)
      .toMatch(new RegExp(String.raw`get-health 500 Error: out of order at functions/get-health\.ts:${line} \(`));
  });

  test("notices each change of an editor that replaces the file", async () => {
    const file = join(copy, "lib/http/pagination.ts");
    for (const words of ["a number of pieces", "a count of things"]) {
      const text = readFileSync(file, "utf8").replace(/must be .* from 1/, `must be ${words} from 1`);
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
      await expect
        .poll(() => get("/v1/work_items?limit=0"))
        .toEqual({ error: `limit: must be ${words} from 1 to 100` });
    }
  });
});
