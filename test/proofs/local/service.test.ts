import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { organizationsCommand } from "../../../apps/operator/commands/organizations.ts";
import { WRITE_WITHIN_MS } from "../../../lib/store/optimistic-write.ts";
import { readEnvironmentFile } from "../../../infra/terminal/environment-file.ts";
import type { ListWorkItemsResponseBody } from "../../../apps/client/openapi-types.ts";
import { childEnvironment } from "../../support/child-environment.ts";
import { makeApp, resourcesOf, type Template } from "../../infra/synthesized.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { runCommand } from "../../support/terminal.ts";

const STARTING = "Starting the service …\n";
const script = (name: string): string => fileURLToPath(new URL(`../../../apps/local/${name}`, import.meta.url));

type Child = ChildProcessByStdio<null, Readable, Readable>;
const children: Child[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

const run = (name: string, args: string[], variables: Record<string, string>): Child => {
  const child = spawn(process.execPath, [script(name), ...args], {
    env: { ...childEnvironment(), ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  return child;
};

const printedBy = async (child: Child) => {
  const exit = once(child, "exit");
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = (await exit) as [number | null];
  return { status, out, error };
};

/** Runs `npm start` until it prints that it is ready. */
const start = async (
  directory: string,
  variables: Record<string, string> = {},
): Promise<{ child: Child; printed: string }> => {
  const child = run("start.ts", [], { DATA_DIR: directory, PORT: "0", ...variables });
  let printed = "";
  const complaint = text(child.stderr);
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    if (/^ready$/m.test(printed)) return { child, printed };
  }
  throw new Error(`the local service did not start: ${await complaint}`);
};

const caller = (directory: string) => {
  const { BASE_URL: base = "", API_KEY: key = "" } = readEnvironmentFile(join(directory, "env"));
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- Callers name the type of the body.
  return async <T = { readonly data: Readonly<Record<string, unknown>> }>(
    path: string,
    init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {},
  ) => {
    const response = await fetch(`${base}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${key}`, ...init.headers },
    });
    return { status: response.status, body: (await response.json()) as T };
  };
};
const json = (body: unknown) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

test("npm start prints nothing but its banner, also for requests that come before it is ready", async () => {
  const probe = createServer().listen(0);
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  const child = run("start.ts", [], { DATA_DIR: temporaryDirectory(), PORT: String(port) });
  let [printed, complaint, before, after] = ["", "", 0, 0];
  child.stdout.on("data", (chunk) => (printed += String(chunk)));
  child.stderr.on("data", (chunk) => (complaint += String(chunk)));
  await expect
    .poll(
      async () => {
        const response = await fetch(`http://localhost:${port}/v1/work_items`).catch(() => undefined);
        await response?.text();
        if (response !== undefined) [before, after] = printed === "" ? [before + 1, after] : [before, after + 1];
        return after;
      },
      { timeout: 60_000, interval: 5 },
    )
    .toBeGreaterThan(3);
  child.kill("SIGTERM");
  await once(child, "close");
  expect(before).toBeGreaterThan(0);
  expect(complaint).toBe(STARTING);
  expect(printed).toMatch(/^\n {2}Documentation .*\n( {2}\S.*\n)*\n {2}curl [^\n]*\n\nready\n$/);
});

/** One data directory through three starts: each takes seconds, so that these tests share them. */
describe("what npm start serves", () => {
  const directory = temporaryDirectory(afterAll);
  const file = join(directory, "env");
  let running: Child;
  let told = "";
  let jobPath = "";
  let listed: unknown;

  test("is the contract", async () => {
    const { child, printed } = await start(directory);
    running = child;
    const call = caller(directory);
    const applied = await call(
      "/v1/work_items/batch",
      json({ work_items: [{ external_id: "a/1", agent_name: "Ann" }] }),
    );
    expect(applied).toMatchObject({ status: 200, body: { data: { summary: { total: 1, created: 1 } } } });
    const form = new FormData();
    form.append(
      "upload[file]",
      new Blob(["external_id,status\nb,completed\nc,nonsense\n"], { type: "text/csv" }),
      "items.csv",
    );
    const uploaded = await call("/v1/work_items/upload", { method: "POST", body: form });
    expect(uploaded.status).toBe(202);
    jobPath = `/v1/work_items/upload/${String(uploaded.body.data["id"])}`;
    await expect
      .poll(async () => (await call(jobPath)).body.data)
      .toMatchObject({ status: "completed", total_rows: 2, succeeded_rows: 1, failed_rows: 1 });
    const { body } = await call<ListWorkItemsResponseBody>("/v1/work_items");
    listed = body;
    expect(body.data.map((item) => item.external_id)).toEqual(["b", "a/1"]);

    expect(printed).toContain(`Bearer ${readEnvironmentFile(file)["API_KEY"]}`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("is served once in a data directory", async () => {
    const second = await printedBy(run("start.ts", [], { DATA_DIR: directory, PORT: "0" }));
    expect(second).toMatchObject({ status: 1, out: "" });
    expect(second.error).toMatch(
      /^Starting the service …\nCannot start: the data directory \S+ is in use by another local service \(process \d+\)\n$/,
    );
  });

  test("is kept through a kill -9: work items, jobs and the key", async () => {
    const { API_KEY: key } = readEnvironmentFile(file);
    running.kill("SIGKILL");
    await once(running, "exit");
    ({ child: running } = await start(directory, { LOG: "1" }));
    running.stderr.on("data", (chunk) => (told += String(chunk)));
    expect(readEnvironmentFile(file)["API_KEY"]).toBe(key);
    const call = caller(directory);
    expect((await call("/v1/work_items")).body).toEqual(listed);
    expect((await call(jobPath)).body.data).toMatchObject({ status: "completed", total_rows: 2 });
  });

  test("is logged: printed with LOG=1, and written too", async () => {
    const line = '"route":"list-work-items"';
    await expect.poll(() => told).toContain(line);
    const written = () => readFileSync(join(directory, "functions.log"), "utf8");
    await expect.poll(written).toContain(line);
  });

  test("can't be read by other users of this machine", () => {
    const readable = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter(
      (name) => (statSync(join(directory, name)).mode & 0o077) !== 0,
    );
    expect(readable).toEqual([]);
  });

  test("can be invoked one function at a time", async () => {
    const event = join(temporaryDirectory(), "event.json");
    writeFileSync(
      event,
      JSON.stringify({ httpMethod: "GET", path: "/v2", resource: "/{proxy+}", headers: {}, requestContext: {} }),
    );
    const invoked = await printedBy(run("invoke.ts", ["reject-unknown-route", event], { DATA_DIR: directory }));
    expect(JSON.parse(invoked.out)).toMatchObject({ statusCode: 404 });
  });

  test("can serve the functions of a template, which sam invokes", () => {
    const environment = join(directory, "stack.env");
    const app = makeApp({}, { region: "us", environment });
    const functions = resourcesOf(
      app.synth().getStackByName("WorkItems-us").template as Template,
      "AWS::Lambda::Function",
    );
    const { WORK_ITEMS_TABLE, AWS_ENDPOINT_URL_DYNAMODB } = readEnvironmentFile(environment);
    const Variables = expect.objectContaining({ WORK_ITEMS_TABLE, AWS_ENDPOINT_URL_DYNAMODB }) as unknown;
    expect(functions.length).toBeGreaterThan(0);
    for (const [, properties] of functions) expect(properties["Environment"]).toEqual({ Variables });
  });

  test("takes a body full of quotes up to 4 MiB, and rejects a larger one itself", async () => {
    const call = caller(directory);
    // As Lambda counts it, each quote in a body would take two bytes more if the body came as text.
    const quotes = (mebibytes: number) =>
      Array.from({ length: 20 }, (_, index) => ({
        external_id: `quotes ${index}`,
        custom_attributes: { text: '"'.repeat((mebibytes * 1024 * 1024) / 40) },
      }));
    const large = await call("/v1/work_items/batch", json({ work_items: quotes(3.99) }));
    expect(large).toMatchObject({ status: 200, body: { data: { summary: { created: 20 } } } });
    const tooLarge = await call("/v1/work_items/batch", json({ work_items: quotes(4) }));
    expect(tooLarge).toMatchObject({ status: 413, body: { error: expect.stringContaining("4194304 bytes") } });
    // Up to about 4.5 MB by us, up to 10 MiB by Lambda, above by the gateway: each names the other way.
    for (const mebibytes of [4.1, 5, 7, 11]) {
      const form = new FormData();
      form.append("upload[file]", new Blob([Buffer.alloc(mebibytes * 1024 * 1024, "a")]), "items.csv");
      const refused = await call("/v1/work_items/upload", { method: "POST", body: form });
      const error = expect.stringMatching(/at most 4194304 bytes.*"upload": { "filename", "size" }/) as string;
      expect({ mebibytes, ...refused }).toMatchObject({ mebibytes, status: 413, body: { error } });
    }
  });

  test("keeps limits that were set, through an orderly stop", async () => {
    const limits = ["set", "demo", "--rate", "2", "--burst", "2"];
    const set = await runCommand(organizationsCommand, limits, { env: { DATA_DIR: directory } });
    expect(set.status).toBe(0);
    running.kill("SIGTERM");
    expect(await once(running, "exit")).toEqual([0, null]);
    ({ child: running } = await start(directory));
    const { BASE_URL: base = "", API_KEY: key = "" } = readEnvironmentFile(file);
    const { headers } = await fetch(`${base}/v1/work_items`, { headers: { authorization: `Bearer ${key}` } });
    expect(headers.get("ratelimit-policy")).toBe('"organization";q=2;w=1');
    running.kill("SIGKILL");
  });
});

test("names a full disk in one line, refuses writes at once, and goes on when there is space", async ({ skip }) => {
  const small = temporaryDirectory();
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=60m", "tmpfs", small]);
  skip(mounted.status !== 0, "only root may mount a small disk");
  onTestFinished(() => void spawnSync("umount", ["-l", small]));
  const { child } = await start(join(small, "data"));
  let told = "";
  child.stderr.on("data", (chunk) => (told += String(chunk)));
  expect(() => writeFileSync(join(small, "rest"), Buffer.alloc(60 * 1024 * 1024))).toThrow("ENOSPC");
  const call = caller(join(small, "data"));
  const began = performance.now();
  const [batch, one] = [{ work_items: [{ external_id: "a" }] }, { work_item: { external_id: "b" } }];
  const refused = [await call("/v1/work_items/batch", json(batch)), await call("/v1/work_items", json(one))];
  expect(refused).toEqual(Array.from({ length: 2 }, () => ({ status: 503, body: { error: expect.any(String) } })));
  expect(performance.now() - began).toBeLessThan(WRITE_WITHIN_MS);
  await expect.poll(() => told).toContain("full");
  rmSync(join(small, "rest"));
  await expect.poll(async () => (await call("/v1/work_items/batch", json(batch))).status).toBe(200);
  expect(told).toBe("the disk of the data directory is full: writes fail until it has space\n");
  child.kill("SIGKILL");
});

const taken = createServer().listen(0);
await once(taken, "listening");
const { port: takenPort } = taken.address() as AddressInfo;
afterAll(() => taken.close());

test.each([
  ["a taken port", { PORT: String(takenPort) }, `Cannot start: port ${takenPort} is`],
  ["a port that is none", { PORT: "http" }, "Cannot start: PORT is http: it must be a number from 0 to 65535\n"],
  [
    "a DynamoDB that does not respond",
    { DYNAMODB_ENDPOINT: "http://127.0.0.1:1" },
    "Cannot start: DynamoDB at http://127.0.0.1:1 cannot be used: ",
  ],
  [
    "a data directory that is a file",
    { DATA_DIR: script("start.ts") },
    `Cannot start: the data directory ${script("start.ts")} cannot be used: EEXIST`,
  ],
  [
    "a data directory in a file system that takes none",
    { DATA_DIR: "/proc/work-items/data" },
    "Cannot start: the data directory /proc/work-items/data cannot be used: ENOENT",
  ],
])("ends with one line, status 1 and no file for callers on %s", async (_, variables, expected) => {
  const directory = temporaryDirectory();
  const { status, error } = await printedBy(run("start.ts", [], { DATA_DIR: directory, PORT: "0", ...variables }));
  expect(existsSync(join(directory, "env"))).toBe(false);
  expect(status).toBe(1);
  expect(error).toContain(expected);
  expect(error.replace(STARTING, "").trim().split("\n")).toHaveLength(1);
});
